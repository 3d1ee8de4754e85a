#pragma once

#include <mpi.h>

#include <climits>

#include "engine/mpi/call_lock.hpp"
#include "engine/mpi/call_place.hpp"
#include "engine/mpi_calls/call_forms.hpp"
#include "engine/mpi_calls/counted_bytes.hpp"
#include "engine/mpi_calls/mpi_steps.hpp"
#include "engine/mpi_calls/pause.hpp"
#include "engine/mpi_calls/traced_call.hpp"

/// In a function of MPI: records from where it was called.
#define PX_CALLED px::engine::MpiSteps::called_from(__builtin_return_address(0))

namespace px::engine {

/// Marks a call as in progress as long as this object exists: only its thread uses the steps.
class InCall {
 public:
  /// steps  may be null.
  explicit InCall(MpiSteps* steps) : steps_(steps) {
    if (steps_) has_lock_ = steps_->enter();
  }
  ~InCall() {
    if (steps_) steps_->exit(has_lock_);
  }
  InCall(InCall&&) = delete;

 private:
  MpiSteps* const steps_;
  bool has_lock_ = false;  // since this call began
};

/// A call in which MPI may wait, and which cannot be interrupted: records the rank's position.
template <typename Operation>
int named(const char* name, const Operation& operation) {
  MpiSteps* const steps = MpiSteps::of_any_thread();
  if (!steps) return operation();
  const TracedCall traced{name};
  const CallLock::Released others_may_call{steps->lock()};
  const InMpiCall place{MpiSteps::call_place(),
                        {name, 0, MpiCall::none, MpiCall::none, MpiCall::none, Clock::now()}};
  return operation();
}

/// A collective call: begins when all ranks have reached it, each on any of its threads.
/// operation  makes it on the communicator that it is given; returns MPI's code.
template <typename Operation>
int collective(const CalledForm& called, MPI_Comm communicator, const Operation& operation) {
  MpiSteps* const steps = MpiSteps::of_any_thread();
  if (!steps) return operation(communicator);
  const char* const name = called.name.text;
  const InCall in_call{steps};
  KnownCommunicator* const known = steps->known(communicator);
  if (!known) {
    const MPI_Comm own = steps->own_of(Intercommunicator{communicator});
    if (own == MPI_COMM_NULL) return named(name, [&] { return operation(communicator); });
    const std::function<int(MPI_Comm)> make = [&](MPI_Comm) { return operation(communicator); };
    return collective({.name = called.name}, own, make);
  }
  TracedCall traced{name};
  traced.is_collective(*known, called.form);
  const InMpiCall place{MpiSteps::call_place(),
                        {name, known->number, static_cast<int>(known->members.size()),
                         MpiCall::none, MpiCall::none, Clock::now()}};
  bool leaves = false;
  if (const int code = steps->arrive(called, *known, leaves); code != MPI_SUCCESS) return code;
  traced.met(*known);
  const HostRollCall* const here = known->host_roll_call.get();
  int code = MPI_SUCCESS;
  if (here && here->is_of_one_form())
    code = called.small.complete(*here);
  else if (!called.is_roll_call)
    code = steps->outside([&, current = known->current] { return operation(current); });
  if (code == MPI_SUCCESS)
    count_collective(*known, called);
  else
    steps->failed(*known);
  return leaves ? steps->leave(name) : code;
}

template <typename Operation>
int collective(CallName name, MPI_Comm communicator, const Operation& operation) {
  return collective(CalledForm{.name = name}, communicator, operation);
}

/// Waits for the request like MPI_Wait, but gives the core to other ranks between two tests.
int complete(MPI_Request& request);

/// Whether MPI needs a larger number than an int to count these bytes. Some MPICH versions cannot
/// send them with nonblocking calls, only with blocking ones.
inline bool is_large(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL) return false;
  return PMPI_Type_size_x(type, &size) == MPI_SUCCESS && size > 0 && count > INT_MAX / size;
}

/// A collective call that has a nonblocking form, `begun`. If ranks share cores it is made in that
/// form: MPI's blocking call keeps a core from the rank for which it waits. All ranks of a
/// communicator decide alike, because the two forms do not match each other.
/// is_plain  whether it is made by `plain` in any case: the same on all ranks.
template <typename Plain, typename Begun, typename IsPlain>
int begun_collective(const CalledForm& called, MPI_Comm communicator, const Plain& plain,
                     const Begun& begun, const IsPlain& is_plain) {
  return collective(called, communicator, [&](MPI_Comm current) {
    MpiSteps* const steps = MpiSteps::of_any_thread();
    if (!steps || !steps->shares_cores() || is_plain() || !steps->has_others(communicator))
      return plain(current);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = begun(current, &request);
    return code == MPI_SUCCESS ? complete(request) : code;
  });
}

/// An intercommunicator was made, and all ranks of both groups call this: its roll calls are held
/// on a communicator of all these ranks.
inline void made_between(MpiSteps& steps, MPI_Comm between) {
  MPI_Comm own = MPI_COMM_NULL;
  if (PMPI_Intercomm_merge(between, 0, &own) != MPI_SUCCESS) return;
  const bool is_agreed = steps.are_in_one_epoch(own);
  if (is_agreed) steps.made(own);
  if (is_agreed && steps.has_others(own))
    steps.own(Intercommunicator{between}, own);
  else
    PMPI_Comm_free(&own);  // some of its ranks hold no roll calls
}

/// A collective call that makes a communicator.
template <typename Operation>
int maker(CallName name, MPI_Comm communicator, const MPI_Comm* result,
          const Operation& operation) {
  return collective(name, communicator, [&](MPI_Comm current) {
    MpiSteps* const steps = MpiSteps::of_any_thread();
    const int code = operation(current);
    // Before a rank that was interrupted in the meantime leaves: all take part in this, too.
    if (!steps || code != MPI_SUCCESS || *result == MPI_COMM_NULL) return code;
    if (steps->own_of(Intercommunicator{communicator}) == MPI_COMM_NULL)
      steps->made(*result, communicator);
    else
      made_between(*steps, *result);
    return code;
  });
}

/// A collective call that makes a file or a window.
/// make  makes it for the ranks of the communicator that it is given. The file or window has its
/// own communicator, on which its roll calls are held.
template <typename Handle, typename Make>
int make_shared(CallName name, MPI_Comm communicator, Handle* result, const Make& make) {
  return collective(name, communicator, [&](MPI_Comm current) {
    MpiSteps* const steps = MpiSteps::of_any_thread();
    if (!steps || !steps->has_others(communicator)) return make(current);
    MPI_Comm own = MPI_COMM_NULL;
    int code = PMPI_Comm_dup(current, &own);
    if (code != MPI_SUCCESS) return code;
    steps->made(own, communicator);
    code = make(own);
    if (code == MPI_SUCCESS)
      steps->own(*result, own);
    else
      steps->free(name.text, &own, PMPI_Comm_free);
    return code;
  });
}

/// A collective call on a file or window.
template <typename Handle, typename Use>
int use_shared(CallName name, Handle handle, const Use& use) {
  MpiSteps* const steps = MpiSteps::of_any_thread();
  const MPI_Comm own = steps ? steps->own_of(handle) : MPI_COMM_NULL;
  if (own == MPI_COMM_NULL) return named(name.text, use);
  return collective(name, own, [&](MPI_Comm) { return use(); });
}

/// The call that frees it.
/// release  sets the handle to null.
template <typename Handle, typename Release>
int free_shared(CallName name, Handle* handle, const Release& release) {
  const Handle freed = *handle;
  const int code = use_shared(name, freed, [&] { return release(handle); });
  MpiSteps* const steps = MpiSteps::of_any_thread();
  if (!steps || code != MPI_SUCCESS) return code;
  MPI_Comm own = steps->take_own(freed);
  return own == MPI_COMM_NULL ? code : steps->free(name.text, &own, PMPI_Comm_free);
}

/// A call on another thread than the main one: made unchanged, until the cell is stopped.
template <typename Operation>
int of_other_thread(const char* name, const Operation& operation) {
  const int code = MpiSteps::refuse_thread(name);
  return code == MPI_SUCCESS ? operation() : code;
}

/// Like the function above, for a blocking call: `test` sets its argument when the awaited event
/// has happened.
template <typename Test>
int wait_in_other_thread(const char* name, const Test& test) {
  const MpiSteps* const steps = MpiSteps::of_any_thread();
  Pause pause{steps && steps->shares_cores()};
  for (int done = 0;;) {
    int code = MpiSteps::refuse_thread(name);
    if (code == MPI_SUCCESS) code = test(&done);
    if (done != 0 || code != MPI_SUCCESS) return code;
    pause();
  }
}

/// A call that only begins an operation, or ends at once.
template <typename Operation>
int begin(const char* name, MPI_Comm communicator, const Operation& operation) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps)
    return of_other_thread(name, [&] { return operation(MpiSteps::current(communicator)); });
  const InCall in_call{steps};
  KnownCommunicator* const known = steps->known(communicator);
  if (!known) return operation(communicator);
  const int code = steps->prepare(name, *known);
  return code == MPI_SUCCESS ? operation(known->current) : code;
}

/// Begins a receive, unless the sender has left the epoch: MPI would read the sent data from memory
/// that the sender's cell has released.
/// from  a rank of the communicator; negative: any.
template <typename Operation>
int begin_receive(const char* name, MPI_Comm communicator, int from, const Operation& operation) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  return begin(name, communicator, [&](MPI_Comm current) {
    KnownCommunicator* const known = steps ? steps->known(communicator) : nullptr;
    const int code = known ? steps->check_sender(name, *known, from) : MPI_SUCCESS;
    return code == MPI_SUCCESS ? operation(current) : code;
  });
}

/// Like the function above, for a call that makes a request.
/// peer  a rank of the communicator; negative: any, or all.
template <typename Operation>
int begin_request(const char* name, MPI_Comm communicator, Need::Operation kind, int peer,
                  bool is_persistent, MPI_Request* request, const Operation& operation) {
  const bool receives = kind == Need::Operation::receive && !is_persistent;
  const int code = receives ? begin_receive(name, communicator, peer, operation)
                            : begin(name, communicator, operation);
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps || code != MPI_SUCCESS) return code;
  KnownCommunicator* const known = steps->known(communicator);
  if (known && kind == Need::Operation::collective) ++known->use.begun;
  Need need = steps->need(kind, communicator, known, peer);
  need.is_persistent = is_persistent;
  steps->requests().begun(*request, need);
  return code;
}

/// Waits for a request that no cell knows.
/// clean_up  called before the cell is left.
int wait_for(const char* name, MpiSteps& steps, const Need& need, MPI_Request& request,
             MPI_Status* status, const std::function<void()>& clean_up = {});

/// A blocking send, made by the nonblocking one of its kind: `begun`.
template <typename Plain, typename Begun>
int send(const char* name, MPI_Comm communicator, int to, int tag, const Plain& plain,
         const Begun& begun) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps) return of_other_thread(name, [&] { return plain(MpiSteps::current(communicator)); });
  const InCall in_call{steps};
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      begin(name, communicator, [&](MPI_Comm current) { return begun(current, &request); });
  if (code != MPI_SUCCESS) return code;
  const Need need =
      steps->need(Need::Operation::send, communicator, steps->known(communicator), to, tag);
  return wait_for(name, *steps, need, request, MPI_STATUS_IGNORE);
}

/// Fills in the status of a received message. The error in the status is kept, because MPI sets it
/// only in calls with several requests.
/// status  may be MPI_STATUS_IGNORE.
inline void set_status(MPI_Status* status, MPI_Status received) {
  if (status == MPI_STATUS_IGNORE) return;
  received.MPI_ERROR = status->MPI_ERROR;
  *status = received;
}

/// A blocking receive, made in the same way.
/// traced  the call.
template <typename Plain, typename Begun>
int receive(TracedCall& traced, const char* name, MPI_Comm communicator, int from, int tag,
            MPI_Status* status, const Plain& plain, const Begun& begun) {
  if (!MpiSteps::of_any_thread()) return plain(communicator, status);
  MpiSteps* const steps = MpiSteps::of_this_thread();
  MPI_Request request = MPI_REQUEST_NULL;
  const auto cancel = [&request] {
    if (request == MPI_REQUEST_NULL) return;
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  if (!steps) {
    int code = begun(MpiSteps::current(communicator), &request);
    if (code == MPI_SUCCESS)
      code =
          wait_in_other_thread(name, [&](int* done) { return PMPI_Test(&request, done, status); });
    cancel();
    return code;
  }
  const InCall in_call{steps};
  int code = begin_receive(name, communicator, from,
                           [&](MPI_Comm current) { return begun(current, &request); });
  if (code != MPI_SUCCESS) return code;
  KnownCommunicator* const known = steps->known(communicator);
  MPI_Status own_status{};
  code =
      wait_for(name, *steps, steps->need(Need::Operation::receive, communicator, known, from, tag),
               request, &own_status, cancel);
  if (code == MPI_SUCCESS) traced.came(known, own_status);
  if (code == MPI_SUCCESS && known) code = steps->check_source(name, *known, own_status.MPI_SOURCE);
  if (code == MPI_SUCCESS) count_received(own_status);
  set_status(status, own_status);
  return code;
}

/// Calls `test` until it sets its argument; if calls are plain, calls `plain`.
template <typename Plain, typename Test>
int probe(const char* name, MPI_Comm communicator, int from, int tag, const Plain& plain,
          const Test& test) {
  if (!MpiSteps::of_any_thread()) return plain(communicator);
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps)
    return wait_in_other_thread(
        name, [&](int* done) { return test(MpiSteps::current(communicator), done); });
  const TracedCall traced{name, communicator, from, tag, 0, MPI_DATATYPE_NULL};
  const InCall in_call{steps};
  KnownCommunicator* const known = steps->known(communicator);
  if (known)
    if (const int code = steps->prepare(name, *known); code != MPI_SUCCESS) return code;
  const MPI_Comm current = known ? known->current : communicator;
  int code = MPI_SUCCESS, done = 0;
  const int waited = steps->wait(
      name, {steps->need(Need::Operation::receive, communicator, known, from, tag)}, true, [&] {
        code = test(current, &done);
        return done != 0 || code != MPI_SUCCESS;
      });
  return waited != MPI_SUCCESS ? waited : code;
}

/// Tests once whether a message waits.
/// test  sets *flag.
template <typename Test>
int probe_once(const char* name, MPI_Comm communicator, int from, const int* flag,
               const Test& test) {
  const int code = begin(name, communicator, test);
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps || code != MPI_SUCCESS || *flag) return code;
  return steps->look(
      name, {steps->need(Need::Operation::receive, communicator, steps->known(communicator), from)},
      true);
}

}  // namespace px::engine
