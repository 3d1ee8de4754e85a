#include "engine/mpi_calls/roll_call.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <span>

#include "engine/mpi/stop_point.hpp"

namespace px::engine {
namespace {

/// What ranks show one another where their calls differ.
struct ShownCall {
  CallForm form;
  std::array<char, 48> name{};
};

}  // namespace

RollCall::RollCall(KnownCommunicator& known, std::uint64_t epoch, const CollectiveCall& call,
                   const CalledForm& called)
    : known_(known), form_(called.form), name_(called.name) {
  form_.name = name_.number;
  form_.wants_stop = px_stop_point()->is_asked() ? 1 : 0;
  if (known_.host_roll_call) {
    const std::span name{name_.text, name_.length + 1};
    const std::uint64_t small = called.small.form();
    known_.host_roll_call->come_to(epoch, call.place, form_, small,
                                   small != 0 ? called.small.part() : std::as_bytes(name));
    return;
  }
  ++known_.use.roll_calls;
  carried_ = {known_.current, form_};
}

/// Another thread may have left the epoch, and the communicator with it.
RollCall::~RollCall() {
  static std::list<CarriedRollCall> abandoned;
  if (!carried_.is_complete()) abandoned.push_back(std::move(carried_));
}

bool RollCall::is_complete() {
  return known_.host_roll_call ? known_.host_roll_call->have_all_come() : carried_.is_complete();
}

bool RollCall::is_one_call() const {
  return known_.host_roll_call ? known_.host_roll_call->is_one_call() : carried_.is_one_call();
}

std::optional<std::string> RollCall::why_mismatched() {
  return is_one_call() ? std::nullopt : engine::why_mismatched(calls());
}

bool RollCall::wants_stop() {
  if (is_one_call()) return form_.wants_stop;
  return std::any_of(calls().begin(), calls().end(),
                     [](const RankCall& call) { return call.form.wants_stop; });
}

const std::vector<RankCall>& RollCall::calls() {
  if (calls_.empty()) calls_ = known_.host_roll_call ? calls_in_memory() : gathered_calls();
  return calls_;
}

std::vector<RankCall> RollCall::calls_in_memory() const {
  const HostRollCall& here = *known_.host_roll_call;
  std::vector<RankCall> calls;
  for (std::size_t rank = 0; rank < here.size(); ++rank) {
    const std::uint64_t small = here.part_form_of(rank);
    calls.push_back({Rank{known_.members[rank]}, here.form_of(rank),
                     small != 0 ? SmallCall::name_of(small)
                                : reinterpret_cast<const char*>(here.given_by(rank))});
  }
  return calls;
}

std::vector<RankCall> RollCall::gathered_calls() const {
  ShownCall own{form_};
  std::copy_n(name_.text, std::min(name_.length, own.name.size() - 1), own.name.begin());
  std::vector<ShownCall> all(known_.members.size());
  PMPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, known_.current);
  std::vector<RankCall> calls;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    calls.push_back({Rank{known_.members[rank]}, all[rank].form, all[rank].name.data()});
  return calls;
}

void RollCall::leave() {
  if (!known_.host_roll_call) known_.use.left_calls.push_back(std::move(carried_));
}

}  // namespace px::engine
