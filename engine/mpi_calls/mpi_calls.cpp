// MPI's functions that begin, wait or send, in front of the MPI library's own, which MPI keeps
// under PMPI_ names for this purpose. pxengine-cpp exports them, and a Python engine loads them as
// a library before MPI itself: what calls MPI finds them first.

#include "engine/mpi_calls/calls.hpp"

#include <mpi.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/mpi/stop_point.hpp"

namespace px::engine {

int complete(MPI_Request& request) {
  for (;;) {
    int is_done = 0;
    const int code = PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done || code != MPI_SUCCESS) return code;
    std::this_thread::yield();
  }
}

int wait_for(const char* name, MpiSteps& steps, const Need& need, MPI_Request& request,
             MPI_Status* status, const std::function<void()>& clean_up) {
  int code = MPI_SUCCESS, done = 0;
  const int waited = steps.wait(
      name, {need}, true,
      [&] {
        if (!done) code = PMPI_Test(&request, &done, status);
        return done != 0 || code != MPI_SUCCESS;
      },
      [&] {
        if (clean_up) clean_up();
        // It still comes, or waits for its receiver for ever.
        if (need.kind == Need::Operation::send) steps.requests().begun(request, need);
      });
  return waited != MPI_SUCCESS ? waited : code;
}

namespace {

/// plain  sends and receives at once; receive, send  begin to.  traced  the receiving half.
template <typename Plain, typename Receive, typename Send>
int send_and_receive(TracedCall& traced, const char* name, MPI_Comm communicator, int to, int from,
                     MPI_Status* status, const Plain& plain, const Receive& receive,
                     const Send& send) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps)
    return of_other_thread(name, [&] { return plain(MpiSteps::current(communicator), status); });
  const InCall in_call{steps};
  MPI_Request receiving = MPI_REQUEST_NULL, sending = MPI_REQUEST_NULL;
  int code = begin_receive(name, communicator, from, [&](MPI_Comm current) {
    const int begun = receive(current, &receiving);
    return begun != MPI_SUCCESS ? begun : send(current, &sending);
  });
  KnownCommunicator* const known = steps->known(communicator);
  const Need sent = steps->need(Need::Operation::send, communicator, known, to);
  const auto stop_receiving = [&] {
    steps->requests().begun(sending, sent);
    if (receiving == MPI_REQUEST_NULL) return;
    PMPI_Cancel(&receiving);
    PMPI_Wait(&receiving, MPI_STATUS_IGNORE);
  };
  if (code != MPI_SUCCESS) {
    stop_receiving();
    return code;
  }
  MPI_Status own_status{};
  code = wait_for(name, *steps, steps->need(Need::Operation::receive, communicator, known, from),
                  receiving, &own_status, stop_receiving);
  if (code == MPI_SUCCESS) traced.came(known, own_status);
  if (code == MPI_SUCCESS) code = wait_for(name, *steps, sent, sending, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && known) code = steps->check_source(name, *known, own_status.MPI_SOURCE);
  if (code == MPI_SUCCESS) count_received(own_status);
  set_status(status, own_status);
  return code;
}

/// Bytes that are sent, and that MPI may still read when the call has been left.
class SentBytes {
 public:
  explicit SentBytes(int size) : bytes_(static_cast<std::size_t>(size)) {}
  ~SentBytes() {
    if (MpiSteps* const steps = MpiSteps::of_this_thread())
      steps->requests().keep(request_, std::move(bytes_));
  }
  SentBytes(SentBytes&&) = delete;

  char* data() { return bytes_.data(); }
  void sent_by(MPI_Request request) { request_ = request; }

 private:
  std::vector<char> bytes_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// The user's requests of one call that waits for them, or tests them.
class Requests {
 public:
  Requests(MpiSteps& steps, int count, MPI_Request* requests)
      : steps_(steps), requests_(requests), before_(requests, requests + count) {
    for (const MPI_Request request : before_)
      if (const auto need = steps.requests().need_of(request)) {
        steps.uses(*need);
        needs_.push_back(*need);
      }
  }

  /// The error code where one of them never ends.
  int refuse_stale(const char* name) {
    for (const MPI_Request request : before_) {
      const auto need = steps_.requests().need_of(request);
      if (!need || !steps_.is_stale(*need)) continue;
      int is_done = 0, is_cancelled = 0;
      MPI_Status status;
      PMPI_Request_get_status(request, &is_done, &status);
      if (is_done) PMPI_Test_cancelled(&status, &is_cancelled);
      if (!is_done || is_cancelled) return steps_.refuse_stale(name);
    }
    return MPI_SUCCESS;
  }

  const std::vector<Need>& needs() const { return needs_; }

  /// Forgets those that have ended.
  void forget_ended() {
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (before_[i] != MPI_REQUEST_NULL && requests_[i] != before_[i])
        steps_.requests().ended(before_[i]);
  }

 private:
  MpiSteps& steps_;
  MPI_Request* const requests_;
  const std::vector<MPI_Request> before_;
  std::vector<Need> needs_;
};

/// Waits for requests by their test. needs_all  the wait is in vain as soon as one of them is.
template <typename Plain, typename Test>
int wait_requests(const char* name, int count, MPI_Request* requests, bool needs_all,
                  const Plain& plain, const Test& test) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!MpiSteps::of_any_thread() || count < 0) return plain();
  if (!steps) return wait_in_other_thread(name, test);
  const TracedCall traced{name};
  const InCall in_call{steps};
  Requests own{*steps, count, requests};
  if (const int code = own.refuse_stale(name); code != MPI_SUCCESS) return code;
  int code = MPI_SUCCESS, done = 0;
  const int waited = steps->wait(name, own.needs(), needs_all, [&] {
    if (!done) code = test(&done);
    return done != 0 || code != MPI_SUCCESS;
  });
  if (waited != MPI_SUCCESS) return waited;
  own.forget_ended();
  return code;
}

/// Tests them once. is_done  whether the test said so.
template <typename Test>
int test_requests(const char* name, int count, MPI_Request* requests, bool needs_all,
                  const Test& test, const std::function<bool()>& is_done) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps || count < 0) return of_other_thread(name, test);
  const InCall in_call{steps};
  Requests own{*steps, count, requests};
  if (const int code = own.refuse_stale(name); code != MPI_SUCCESS) return code;
  const int code = test();
  own.forget_ended();
  if (code != MPI_SUCCESS || is_done()) return code;
  return steps->look(name, own.needs(), needs_all);
}

/// Begins persistent requests.
int start_requests(const char* name, int count, MPI_Request* requests,
                   const std::function<int()>& plain) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps) return plain();
  for (int i = 0; i < count; ++i)
    if (const auto need = steps->requests().need_of(requests[i]); need && steps->is_stale(*need))
      return steps->refuse_stale(name);
  return plain();
}

}  // namespace
}  // namespace px::engine

extern "C" {

#define PX_COUNT int
#define PX_PLACE int
#define PX_MPI(name) MPI_##name
#define PX_PMPI(name) PMPI_##name
#define PX_TEXT(name) "MPI_" #name
#include "engine/mpi_calls/counted_calls.inc"
#undef PX_COUNT
#undef PX_PLACE
#undef PX_MPI
#undef PX_PMPI
#undef PX_TEXT

#if MPI_VERSION >= 4
#define PX_COUNT MPI_Count
#define PX_PLACE MPI_Aint
#define PX_MPI(name) MPI_##name##_c
#define PX_PMPI(name) PMPI_##name##_c
#define PX_TEXT(name) "MPI_" #name
#include "engine/mpi_calls/counted_calls.inc"
#undef PX_COUNT
#undef PX_PLACE
#undef PX_MPI
#undef PX_PMPI
#undef PX_TEXT
#endif

// ---------------------------------------------------------------- messages

int MPI_Probe(int rank, int tag, MPI_Comm communicator, MPI_Status* status) {
  PX_CALLED;
  return px::engine::probe(
      "MPI_Probe", communicator, rank, tag,
      [&](MPI_Comm comm) { return PMPI_Probe(rank, tag, comm, status); },
      [&](MPI_Comm comm, int* done) { return PMPI_Iprobe(rank, tag, comm, done, status); });
}

int MPI_Mprobe(int rank, int tag, MPI_Comm communicator, MPI_Message* message, MPI_Status* status) {
  PX_CALLED;
  MPI_Status own_status{};
  const int code = px::engine::probe(
      "MPI_Mprobe", communicator, rank, tag,
      [&](MPI_Comm comm) { return PMPI_Mprobe(rank, tag, comm, message, &own_status); },
      [&](MPI_Comm comm, int* done) {
        return PMPI_Improbe(rank, tag, comm, done, message, &own_status);
      });
  if (code != MPI_SUCCESS) return code;
  px::engine::TracedCall::found(*message, communicator, own_status);
  px::engine::set_status(status, own_status);
  return code;
}

int MPI_Iprobe(int rank, int tag, MPI_Comm communicator, int* flag, MPI_Status* status) {
  PX_CALLED;
  return px::engine::probe_once("MPI_Iprobe", communicator, rank, flag, [&](MPI_Comm comm) {
    return PMPI_Iprobe(rank, tag, comm, flag, status);
  });
}

int MPI_Improbe(int rank, int tag, MPI_Comm communicator, int* flag, MPI_Message* message,
                MPI_Status* status) {
  PX_CALLED;
  return px::engine::probe_once("MPI_Improbe", communicator, rank, flag, [&](MPI_Comm comm) {
    return PMPI_Improbe(rank, tag, comm, flag, message, status);
  });
}

// ---------------------------------------------------------------- requests

int MPI_Start(MPI_Request* request) {
  return px::engine::start_requests("MPI_Start", 1, request, [&] { return PMPI_Start(request); });
}

int MPI_Startall(int count, MPI_Request* requests) {
  return px::engine::start_requests("MPI_Startall", count, requests,
                                    [&] { return PMPI_Startall(count, requests); });
}

int MPI_Request_free(MPI_Request* request) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_this_thread();
  if (steps) steps->requests().freed(*request);
  return PMPI_Request_free(request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  PX_CALLED;
  return px::engine::wait_requests(
      "MPI_Wait", 1, request, true, [&] { return PMPI_Wait(request, status); },
      [&](int* done) { return PMPI_Test(request, done, status); });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  PX_CALLED;
  return px::engine::wait_requests(
      "MPI_Waitall", count, requests, true, [&] { return PMPI_Waitall(count, requests, statuses); },
      [&](int* done) { return PMPI_Testall(count, requests, done, statuses); });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  PX_CALLED;
  return px::engine::wait_requests(
      "MPI_Waitany", count, requests, false,
      [&] { return PMPI_Waitany(count, requests, index, status); },
      [&](int* done) { return PMPI_Testany(count, requests, index, done, status); });
}

int MPI_Waitsome(int count, MPI_Request* requests, int* number, int* indices,
                 MPI_Status* statuses) {
  PX_CALLED;
  return px::engine::wait_requests(
      "MPI_Waitsome", count, requests, false,
      [&] { return PMPI_Waitsome(count, requests, number, indices, statuses); },
      [&](int* done) {
        const int code = PMPI_Testsome(count, requests, number, indices, statuses);
        *done = *number != 0;  // MPI_UNDEFINED where nothing is under way
        return code;
      });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  PX_CALLED;
  return px::engine::test_requests(
      "MPI_Test", 1, request, true, [&] { return PMPI_Test(request, flag, status); },
      [&] { return *flag != 0; });
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  PX_CALLED;
  return px::engine::test_requests(
      "MPI_Testall", count, requests, true,
      [&] { return PMPI_Testall(count, requests, flag, statuses); }, [&] { return *flag != 0; });
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  PX_CALLED;
  return px::engine::test_requests(
      "MPI_Testany", count, requests, false,
      [&] { return PMPI_Testany(count, requests, index, flag, status); },
      [&] { return *flag != 0; });
}

int MPI_Testsome(int count, MPI_Request* requests, int* number, int* indices,
                 MPI_Status* statuses) {
  PX_CALLED;
  return px::engine::test_requests(
      "MPI_Testsome", count, requests, false,
      [&] { return PMPI_Testsome(count, requests, number, indices, statuses); },
      [&] { return *number != 0; });
}

// ---------------------------------------------------------------- all to all, without counts

int MPI_Barrier(MPI_Comm communicator) {
  PX_CALLED;
  return px::engine::collective({.name = "MPI_Barrier", .is_roll_call = true}, communicator,
                                [](MPI_Comm comm) { return PMPI_Barrier(comm); });
}

int MPI_Ibarrier(MPI_Comm communicator, MPI_Request* request) {
  return px::engine::begin_request("MPI_Ibarrier", communicator,
                                   px::engine::Need::Operation::collective, -1, false, request,
                                   [&](MPI_Comm comm) { return PMPI_Ibarrier(comm, request); });
}

#define PX_COLLECTIVE(name, parameters, arguments)                                       \
  int MPI_##name parameters {                                                            \
    PX_CALLED;                                                                           \
    return px::engine::collective("MPI_" #name, communicator,                            \
                                  [&](MPI_Comm comm) { return PMPI_##name arguments; }); \
  }
PX_COLLECTIVE(Comm_spawn,
              (const char* command, char* arguments[], int most, MPI_Info info, int root,
               MPI_Comm communicator, MPI_Comm* result, int codes[]),
              (command, arguments, most, info, root, comm, result, codes))
PX_COLLECTIVE(Comm_accept,
              (const char* port, MPI_Info info, int root, MPI_Comm communicator, MPI_Comm* result),
              (port, info, root, comm, result))
PX_COLLECTIVE(Comm_connect,
              (const char* port, MPI_Info info, int root, MPI_Comm communicator, MPI_Comm* result),
              (port, info, root, comm, result))
#undef PX_COLLECTIVE

int MPI_Abort(MPI_Comm communicator, int code) {
  // What is said now goes to the log by itself: the thread that copies it there from the descriptor
  // of the cells' output ends with the process. The parent's descriptor is that of the log.
  const std::string log = "/proc/" + std::to_string(::getppid()) + "/fd/2";
  const int descriptor = ::open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor >= 0) ::dup2(descriptor, STDERR_FILENO);
  // Open MPI hands its own message to mpiexec, which may not have it when the process has ended.
  int rank = -1, length = 0;
  char name[MPI_MAX_OBJECT_NAME] = "";
  PMPI_Comm_rank(communicator, &rank);
  PMPI_Comm_get_name(communicator, name, &length);
  const bool is_alone = px::engine::MpiSteps::of_any_thread() != nullptr;
  ::dprintf(STDERR_FILENO, "pxengine: MPI_Abort was called on rank %d of %s with code %d%s\n", rank,
            length > 0 ? name : "a communicator", code,
            is_alone ? ": this engine ends, the other ranks keep running" : "");
  // A library that gives up ends its rank, not the variables of the others.
  if (is_alone) ::_exit((code & 0xff) == 0 ? 1 : code);
  return PMPI_Abort(communicator, code);
}

}  // extern "C"

px::engine::StopPoint* px_stop_point() {
  static px::engine::StopPoint point;
  return &point;
}

px::engine::CallPlace* px_call_place() {
  static px::engine::CallPlace place;
  return &place;
}
