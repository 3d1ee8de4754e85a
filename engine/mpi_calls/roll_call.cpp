#include "engine/mpi_calls/roll_call.hpp"

namespace px::engine {

RollCall::RollCall(KnownCommunicator& known, std::uint64_t epoch, const CollectiveCall& call,
                   const SmallCall& small)
    : known_(known) {
  if (known_.host_roll_call) {
    known_.host_roll_call->come_to(epoch, call.place, small.form(), small.part());
    return;
  }
  ++known_.use.roll_calls;
  PMPI_Ibarrier(known_.current, &request_);
}

bool RollCall::is_complete() {
  if (known_.host_roll_call) return known_.host_roll_call->have_all_come();
  int done = 1;
  if (request_ != MPI_REQUEST_NULL) PMPI_Test(&request_, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void RollCall::leave() {
  if (!known_.host_roll_call) known_.use.left_calls.push_back(request_);
}

}  // namespace px::engine
