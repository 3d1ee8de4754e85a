#pragma once

#include <mpi.h>

#include <chrono>

#include "wire/time.hpp"

namespace px::engine {

/// The pause between two tests of something that others must do: MPI's own way of waiting at first;
/// later it yields the core to ranks that work, longer each time.
class Pause {
 public:
  /// yields  whether to yield the core from the first test on.
  explicit Pause(bool yields) : yields_(yields) {}

  /// Pauses. Returns whether it is time to test for rare events.
  bool operator()();

 private:
  const bool yields_;
  unsigned looks_ = 0;
  std::chrono::microseconds step_{0};
  Instant begin_ = Clock::now();
};

/// Whether ranks must yield their core while they wait, because MPI does not: on some host more of
/// these ranks run than it has cores for them. All ranks of the communicator call it at once, and
/// get the same answer. Always false under Open MPI, which yields cores itself in this case.
bool ranks_share_cores(MPI_Comm ranks);

}  // namespace px::engine
