#include "engine/mpi_calls/traced_call.hpp"

namespace px::engine {

void TracedCall::begin(const char* name) {
  span_.emplace();
  span_->call.name = name;
  span_->call.began = Clock::now();
}

void TracedCall::describe(MPI_Comm communicator, int peer, int tag, MPI_Count count,
                          MPI_Datatype type) {
  MpiCall& call = span_->call;
  if (const CallForm form = equal_parts(count, type); form.bytes > 0)
    span_->bytes = static_cast<std::int64_t>(form.bytes) - 1;
  call.tag = tag == MPI_ANY_TAG ? MpiCall::any : tag;
  call.peer = peer == MPI_ANY_SOURCE ? MpiCall::any : MpiCall::none;
  MpiSteps* const steps = MpiSteps::of_this_thread();
  const bool has_lock = steps->enter();
  if (const KnownCommunicator* const known = steps->known(communicator)) {
    call.communicator = known->number;
    call.size = static_cast<int>(known->members.size());
    if (peer >= 0 && peer < call.size) call.peer = known->members[static_cast<std::size_t>(peer)];
  }
  steps->exit(has_lock);
}

void TracedCall::describe(const KnownCommunicator& known, const CallForm& form) {
  span_->call.communicator = known.number;
  span_->call.size = static_cast<int>(known.members.size());
  if (form.bytes > 0) span_->bytes = static_cast<std::int64_t>(form.bytes) - 1;
  if (form.root >= 0) span_->root = form.root;
}

void TracedCall::meet(std::uint64_t place) {
  span_->place = place;
  span_->met = Clock::now();
}

void TracedCall::end() {
  span_->ended = Clock::now();
  spans.add(*span_);
}

}  // namespace px::engine

px::engine::MpiSpans* px_mpi_spans() {
  return &px::engine::TracedCall::spans;
}
