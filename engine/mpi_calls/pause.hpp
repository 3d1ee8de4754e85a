#pragma once

#include <mpi.h>

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

/// Whether ranks have to give their core away while they wait, as MPI does not: on some host more
/// of these ranks run than there are cores for them. All ranks of the communicator call it at once,
/// and get the same answer. Always false under Open MPI, which gives cores away itself then.
bool ranks_share_cores(MPI_Comm ranks);

}  // namespace px::engine
