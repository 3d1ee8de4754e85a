#include "engine/mpi/world_wait.hpp"

#include <algorithm>

namespace px::engine {
namespace {

constexpr Duration longest_pause = std::chrono::seconds(1);
/// About as long as engines wait for a controller that is gone.
constexpr Duration patience = std::chrono::minutes(3);

}  // namespace

bool WorldWait::asks(Instant now) {
  if (now < next_question_) return false;
  next_question_ = now + pause_;
  pause_ = std::min(2 * pause_, longest_pause);
  return true;
}

void WorldWait::heard(int living, Instant now) {
  last_answer_ = now;
  is_alone_ = living == 0;
}

bool WorldWait::is_over(Instant now) const {
  return is_alone_ || now - last_answer_ >= patience;
}

}  // namespace px::engine
