#include "cluster/supervise/controller_restarts.hpp"

#include <algorithm>
#include <utility>

namespace px::cluster {
namespace {

constexpr Duration first_restart_pause = std::chrono::milliseconds(250);
constexpr Duration longest_restart_pause = std::chrono::seconds(10);

Duration pause_before(std::size_t attempt) {
  return std::min<Duration>(first_restart_pause * (1u << std::min<std::size_t>(attempt, 10)),
                            longest_restart_pause);
}

}  // namespace

std::optional<Instant> ControllerRestarts::ended(Instant now) {
  if (!std::exchange(is_serving_, false)) {
    if (now - absent_since_ > patience) return std::nullopt;
    return now + pause_before(failed_starts_++);
  }
  absent_since_ = now;
  failed_starts_ = 0;
  std::erase_if(crashes_, [now](Instant crash) { return crash + time_of_crashes <= now; });
  if (crashes_.size() >= most_crashes) return std::nullopt;
  crashes_.push_back(now);
  return crashes_.size() == 1 ? now : now + pause_before(crashes_.size() - 2);
}

}  // namespace px::cluster
