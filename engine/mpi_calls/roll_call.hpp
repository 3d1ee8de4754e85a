#pragma once

#include <mpi.h>

#include <cstdint>

#include "engine/mpi/rank_board.hpp"
#include "engine/mpi_calls/communicators.hpp"
#include "engine/mpi_calls/small_calls.hpp"

namespace px::engine {

/// The roll call of a collective call: looks at memory where all ranks are on this host, otherwise
/// a nonblocking barrier. For the main thread.
class RollCall {
 public:
  /// This rank comes to the call. known  outlives the roll call.
  RollCall(KnownCommunicator& known, std::uint64_t epoch, const CollectiveCall& call,
           const SmallCall& small);

  /// Whether all have come.
  bool is_complete();
  /// This rank does not go on with the call.
  void leave();

 private:
  KnownCommunicator& known_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace px::engine
