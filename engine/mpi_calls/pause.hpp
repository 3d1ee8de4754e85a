#pragma once

#include <chrono>

#include "wire/time.hpp"

namespace px::engine {

/// Between two looks at something that others must do: MPI's own way of waiting at first, and
/// then with the core given to those who work, the longer the more.
class Pause {
 public:
  /// yields  gives the core away from the first look on.
  explicit Pause(bool yields) : yields_(yields) {}

  /// Whether it is time to look for what comes seldom.
  bool operator()();

 private:
  const bool yields_;
  unsigned looks_ = 0;
  std::chrono::microseconds step_{0};
  Instant begin_ = Clock::now();
};

}  // namespace px::engine
