#pragma once

#include <chrono>

#include "wire/time.hpp"

namespace px::engine {

/// How long the parent of a rank that died stays, so that the MPI launcher does not end the other
/// ranks: until the controller says that none of them is left, or does not answer for long. Uses no
/// socket and no clock.
class WorldWait {
 public:
  explicit WorldWait(Instant now) : next_question_(now), last_answer_(now) {}

  /// Whether to ask the controller now how many are alive; counts as asked after that.
  bool asks(Instant now);
  /// The controller has answered.
  void heard(int living, Instant now);
  bool is_over(Instant now) const;
  /// When to call asks() and is_over() again.
  Instant next_deadline() const { return next_question_; }

 private:
  Instant next_question_, last_answer_;
  Duration pause_ = std::chrono::milliseconds(50);
  bool is_alone_ = false;
};

}  // namespace px::engine
