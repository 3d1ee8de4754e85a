#include "cluster/supervise/respawns.hpp"

#include <algorithm>

namespace px::cluster {

void Respawns::died(int number) {
  if (!waits(number)) waiting_.push_back(number);
}

void Respawns::forget(int number) {
  std::erase(waiting_, number);
}

bool Respawns::waits(int number) const {
  return std::find(waiting_.begin(), waiting_.end(), number) != waiting_.end();
}

std::size_t Respawns::recent(Instant now) const {
  return static_cast<std::size_t>(std::count_if(
      started_.begin(), started_.end(), [now](Instant start) { return start + period > now; }));
}

bool Respawns::is_limited(Instant now) const {
  return !waiting_.empty() && recent(now) >= static_cast<std::size_t>(most_);
}

std::vector<int> Respawns::take_due(Instant now) {
  std::vector<int> due;
  while (!waiting_.empty() && !is_limited(now)) {
    due.push_back(waiting_.front());
    waiting_.pop_front();
    started_.push_back(now);
    if (started_.size() > static_cast<std::size_t>(most_)) started_.pop_front();
  }
  return due;
}

std::optional<Instant> Respawns::next_due() const {
  if (waiting_.empty()) return std::nullopt;
  return started_.size() < static_cast<std::size_t>(most_) ? Instant::min()
                                                           : started_.front() + period;
}

}  // namespace px::cluster
