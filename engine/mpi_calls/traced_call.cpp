#include "engine/mpi_calls/traced_call.hpp"

#include <tuple>
#include <utility>

namespace px::engine {
namespace {

/// The rank in the world, of a rank of the communicator.
int world_rank(const KnownCommunicator& known, int rank) {
  const auto place = static_cast<std::size_t>(rank);
  return rank >= 0 && place < known.members.size() ? known.members[place] : MpiCall::none;
}

/// The message that MPI_Mprobe found last. The main thread's.
std::optional<std::pair<MPI_Message, MpiCall>> found_message;

}  // namespace

void TracedCall::begin(const char* name) {
  span_.emplace();
  span_->call.name = name;
  span_->call.began = Clock::now();
}

void TracedCall::describe(MPI_Comm communicator, int peer, int tag, MPI_Count count,
                          MPI_Datatype type) {
  MpiCall& call = span_->call;
  set_bytes(count, type);
  call.tag = tag == MPI_ANY_TAG ? MpiCall::any : tag;
  call.peer = peer == MPI_ANY_SOURCE ? MpiCall::any : MpiCall::none;
  MpiSteps* const steps = MpiSteps::of_this_thread();
  const bool has_lock = steps->enter();
  if (const KnownCommunicator* const known = steps->known(communicator)) {
    call.communicator = known->number;
    call.size = static_cast<int>(known->members.size());
    if (peer >= 0) call.peer = world_rank(*known, peer);
  }
  steps->exit(has_lock);
}

void TracedCall::describe(const KnownCommunicator& known, const CallForm& form) {
  span_->call.communicator = known.number;
  span_->call.size = static_cast<int>(known.members.size());
  if (form.bytes > 0) span_->bytes = static_cast<std::int64_t>(form.bytes) - 1;
  if (form.root >= 0) span_->root = form.root;
}

void TracedCall::describe(MPI_Message message, MPI_Count count, MPI_Datatype type) {
  set_bytes(count, type);
  if (!found_message || found_message->first != message) return;
  const MpiCall& found = found_message->second;
  MpiCall& call = span_->call;
  std::tie(call.communicator, call.size, call.peer, call.tag) =
      std::tie(found.communicator, found.size, found.peer, found.tag);
  found_message.reset();  // MPI may name another message so
}

void TracedCall::set_bytes(MPI_Count count, MPI_Datatype type) {
  if (const CallForm form = equal_parts(count, type); form.bytes > 0)
    span_->bytes = static_cast<std::int64_t>(form.bytes) - 1;
}

void TracedCall::tell_source(const KnownCommunicator* known, const MPI_Status& status) {
  MpiCall& call = span_->call;
  if (call.tag == MpiCall::any) call.tag = status.MPI_TAG;
  if (call.peer == MpiCall::any && known) call.peer = world_rank(*known, status.MPI_SOURCE);
}

void TracedCall::note(MPI_Message message, MPI_Comm communicator, const MPI_Status& status) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  MpiCall call;
  const bool has_lock = steps->enter();
  if (const KnownCommunicator* const known = steps->known(communicator)) {
    call.communicator = known->number;
    call.size = static_cast<int>(known->members.size());
    call.peer = world_rank(*known, status.MPI_SOURCE);
    call.tag = status.MPI_TAG;
    found_message.emplace(message, call);
  }
  steps->exit(has_lock);
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
