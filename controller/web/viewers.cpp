#include "controller/web/viewers.hpp"

#include <utility>

namespace px::controller {

std::optional<int> Viewers::add(SharedText first, Instant now) {
  if (viewers_.size() >= bounds_.most) return std::nullopt;
  viewers_[next_] = {now, std::move(first)};
  return next_++;
}

std::vector<Viewers::Sending> Viewers::publish(const SharedText& text, Instant now) {
  std::vector<Sending> sendings;
  for (auto& [id, viewer] : viewers_) {
    if (viewer.sending_since) {
      viewer.waiting = text;
    } else {
      viewer.sending_since = now;
      sendings.push_back({id, text});
    }
  }
  return sendings;
}

SharedText Viewers::written(int viewer, Instant now) {
  const auto found = viewers_.find(viewer);
  if (found == viewers_.end()) return nullptr;
  SharedText next = std::exchange(found->second.waiting, nullptr);
  found->second.sending_since = next ? std::optional(now) : std::nullopt;
  return next;
}

std::vector<int> Viewers::expire(Instant now) {
  std::vector<int> stuck;
  for (const auto& [id, viewer] : viewers_)
    if (viewer.sending_since && now - *viewer.sending_since >= bounds_.patience)
      stuck.push_back(id);
  for (const int id : stuck) viewers_.erase(id);
  return stuck;
}

}  // namespace px::controller
