#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "net/handshake_limiter.hpp"
#include "net/lifeline/lifeline.hpp"
#include "net/stream/stream_relay.hpp"

namespace px::controller {

/// What the controller's limit of open files and sockets (RLIMIT_NOFILE) means for clients and
/// engines that connect: each takes several descriptors, and one that would take the last ones is
/// refused with a sentence that says what to do, before connections of others fail. A value; sees
/// no descriptor itself.
class DescriptorPlan {
 public:
  /// limit  how many this process may have open.
  explicit DescriptorPlan(std::size_t limit) : limit_(limit) {}

  /// Of connections that have not shown a key yet, each kind may have a small part.
  net::LifelineLimits lifelines() const;
  net::StreamLimits streams() const;
  net::HandshakeLimiter::Bounds doors() const;
  std::size_t browsers() const;

  /// What one more of these takes here.
  static constexpr std::size_t of_client = 7, of_engine = 10;
  /// What the controller takes before the first client or engine has come.
  static constexpr std::size_t of_controller = 120;
  /// With fewer the controller does not start, as not even one client and one engine could connect.
  std::size_t needed() const { return of_controller + kept() + of_client + of_engine; }
  /// So many are kept free for clients and engines that are connected, and for files.
  std::size_t kept() const;
  /// Why one that takes so many cannot come; nothing where it can.
  /// who   "a client".
  /// left  how many this process may still open.
  std::optional<std::string> why_not(std::string_view who, std::size_t takes,
                                     std::size_t left) const;

 private:
  std::size_t limit_;
};

}  // namespace px::controller
