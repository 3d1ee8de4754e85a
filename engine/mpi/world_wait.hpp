#pragma once

#include <chrono>

#include "wire/time.hpp"

namespace px::engine {

/// How long the parent of a rank that died stays, so that the MPI launcher does not end the other
/// ranks: until the controller says that none of them is left, or is not heard for long. Sees no
/// socket and no clock.
class WorldWait {
 public:
  explicit WorldWait(Instant now) : next_question_(now), last_answer_(now) {}

  /// Whether the controller is to be asked now how many live; then it counts as asked.
  bool asks(Instant now);
  /// It has answered.
  void heard(int living, Instant now);
  bool is_over(Instant now) const;
  /// When asks() or is_over() may have news.
  Instant next_deadline() const { return next_question_; }

 private:
  Instant next_question_, last_answer_;
  Duration pause_ = std::chrono::milliseconds(50);
  bool is_alone_ = false;
};

}  // namespace px::engine
