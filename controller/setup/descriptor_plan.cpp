#include "controller/setup/descriptor_plan.hpp"

#include <algorithm>

namespace px::controller {
namespace {

/// Of a controller that may have as many open as it likes.
constexpr std::size_t most_kept = 512;
constexpr std::size_t most_browsers = 128;

}  // namespace

net::LifelineLimits DescriptorPlan::lifelines() const {
  net::LifelineLimits limits;
  limits.max_unidentified = std::min(limits.max_unidentified, limit_ / 16);
  return limits;
}

net::StreamLimits DescriptorPlan::streams() const {
  net::StreamLimits limits;
  limits.most_single = std::min(limits.most_single, limit_ / 16);
  limits.most_paired = std::min(limits.most_paired, limit_ / 16);
  return limits;
}

net::HandshakeLimiter::Bounds DescriptorPlan::doors() const {
  net::HandshakeLimiter::Bounds bounds;
  bounds.count = std::min(bounds.count, limit_ / 16);
  return bounds;
}

std::size_t DescriptorPlan::browsers() const {
  return std::min(most_browsers, limit_ / 16);
}

std::size_t DescriptorPlan::kept() const {
  return std::min(most_kept, limit_ / 8);
}

std::optional<std::string> DescriptorPlan::why_not(std::string_view who, std::size_t takes,
                                                   std::size_t left) const {
  if (left >= takes + kept()) return std::nullopt;
  return std::string(who) + " takes " + std::to_string(takes) +
         " file descriptors of the controller, which has " + std::to_string(left) + " of " +
         std::to_string(limit_) + " left and keeps " + std::to_string(kept()) +
         " for connected programs: close other clients, or raise its limit (ulimit -n, or "
         "nofile in /etc/security/limits.conf) and start the cluster again";
}

}  // namespace px::controller
