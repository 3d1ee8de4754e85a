#include "engine/mpi_calls/roll_call.hpp"

#include <span>
#include <vector>

#include "engine/mpi/stop_point.hpp"

namespace px::engine {

RollCall::RollCall(KnownCommunicator& known, std::uint64_t epoch, const CollectiveCall& call,
                   const CalledForm& called)
    : known_(known) {
  if (known_.host_roll_call) {
    CallForm form = called.form;
    form.name = called.name.number;
    form.wants_stop = px_stop_point()->is_asked() ? 1 : 0;
    const std::span name{called.name.text, called.name.length + 1};
    const std::uint64_t small = called.small.form();
    known_.host_roll_call->come_to(epoch, call.place, form, small,
                                   small != 0 ? called.small.part() : std::as_bytes(name));
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

std::optional<std::string> RollCall::why_mismatched() const {
  const HostRollCall* const here = known_.host_roll_call.get();
  if (!here || here->is_one_call()) return std::nullopt;
  std::vector<RankCall> calls;
  for (std::size_t rank = 0; rank < here->size(); ++rank) {
    const std::uint64_t small = here->part_form_of(rank);
    calls.push_back({Rank{known_.members[rank]}, here->form_of(rank),
                     small != 0 ? SmallCall::name_of(small)
                                : reinterpret_cast<const char*>(here->given_by(rank))});
  }
  return engine::why_mismatched(calls);
}

bool RollCall::wants_stop() const {
  const HostRollCall* const here = known_.host_roll_call.get();
  if (!here) return false;
  if (here->is_one_call()) return here->own_form().wants_stop;
  for (std::size_t rank = 0; rank < here->size(); ++rank)
    if (here->form_of(rank).wants_stop) return true;
  return false;
}

void RollCall::leave() {
  if (!known_.host_roll_call) known_.use.left_calls.push_back(request_);
}

}  // namespace px::engine
