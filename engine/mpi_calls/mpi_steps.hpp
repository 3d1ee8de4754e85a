#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/mpi/call_lock.hpp"
#include "engine/mpi/call_place.hpp"
#include "engine/mpi/cell_hooks.hpp"
#include "engine/mpi_calls/cell_requests.hpp"
#include "engine/mpi_calls/communicators.hpp"
#include "engine/mpi_calls/handle_communicators.hpp"
#include "engine/mpi_calls/rank_messages.hpp"
#include "engine/mpi_calls/roll_call.hpp"
#include "engine/mpi_calls/user_code.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Makes the blocking MPI calls of cells answer an interrupt, and keeps the ranks in step after
/// calls were left. Such calls poll; a collective call begins with a roll call, which is polled, so
/// that no call is ever left half done: before all ranks have come, no rank's memory is touched. A
/// rank that leaves a call tells all others and goes on to the next epoch of the domains whose
/// communicators its cell has used; in that epoch their messages use new carriers: messages sent
/// before never reach a call of a later epoch. Ranks that wait for one that has left or failed are
/// stopped too.
/// For the main thread. Other threads may also make collective calls, which take part in roll calls
/// and cannot be interrupted: a call that waits when the main thread leaves the epoch is refused.
/// Functions that are not marked "any thread" need an InCall.
/// (docs/decisions/0009-interrupts-in-mpi.md)
class MpiSteps {
 public:
  struct State;
  /// Call it on all ranks of the world at once, after MPI is initialized.
  /// wants  whether this rank takes part.
  /// Returns nothing on ranks that do not take part, or if only one does. Ranks wait for one that
  /// has failed or left for $POLYXEUS_MPI_GRACE seconds (default: 2).
  static std::unique_ptr<MpiSteps> join(bool wants, CellHooks hooks);
  ~MpiSteps();
  MpiSteps(MpiSteps&&) = delete;

  /// The one that the calls of the calling thread must use; null if they are plain calls.
  static MpiSteps* of_this_thread();
  /// The one that collective calls of any thread must use; null if they are plain calls.
  static MpiSteps* of_any_thread();
  /// Records the code that calls MPI: a return address. An interrupt that is not forced does not
  /// leave calls made by libraries (StopPoint). Any thread may call it; only the main thread's
  /// calls are recorded.
  static void called_from(const void* address) {
    if (!UserCode::has(address))
      called_by_library();
    else if (UserCode::is_known())
      is_library_call.store(false, std::memory_order_relaxed);
  }
  /// In this cell a stop waits for a collective call, even if no library has called MPI.
  void use_stop_point();
  /// For threads other than the main thread: the error code of a call that the thread may not make
  /// any more, because its cell was stopped and waits for it; otherwise success.
  static int refuse_thread(const char* name);
  /// The carrier of the communicator's messages. Any thread.
  static MPI_Comm current(MPI_Comm communicator);
  /// The place in which the calling thread records its call: only that of the main thread is read.
  static CallPlace& call_place();

  /// The return value of calls that were left.
  int error_code() const;
  /// Between the ranks that take part and whose MPI lets any thread call it; null if this one is
  /// not among them, or is the only one.
  RankMessages* messages() const;

  // ------------------------------------------------------------ cells

  /// A cell begins.
  /// number  the same for the same cell on all ranks.
  void begin_cell(std::uint64_t number);
  /// It has ended.
  /// failure  the reason, in the past tense, if it ended with an error: "raised X: y".
  void end_cell(const std::optional<std::string>& failure);
  /// Call it repeatedly while no cell runs. Returns the time until the next call.
  Duration tick();
  /// The cell waits for others outside its MPI calls, from true to false: in that time poll() must
  /// be called repeatedly, so that other ranks need not wait for this one.
  void waits_outside(bool waits);
  void poll();

  // ------------------------------------------------------------ calls

  /// Between enter() and the function that follows it a second interrupt does not leave the cell by
  /// force, because the call ends soon or answers the first one, and no other thread uses this
  /// object. They may be nested. Any thread.
  /// has_lock  the result of enter().
  bool enter() {
    if (!lock_.is_main()) return lock_.take();
    if (depth_++ == 0 && holds_jumps_) hold_jumps(true);
    return lock_.take_as_main();
  }
  void exit(bool has_lock) {
    if (!lock_.is_main()) return has_lock ? lock_.give_back() : void();
    if (has_lock) lock_.give_back_as_main();
    if (--depth_ == 0 && holds_jumps_) hold_jumps(false);
  }
  /// The lock of its threads.
  CallLock& lock() const { return lock_; }
  /// MPI's part of a call, for which other threads do not have to wait. Returns its result.
  template <typename Operation>
  int outside(const Operation& operation) {
    const CallLock::Released others_may_call{lock()};
    return operation();
  }
  /// The communicator as this rank knows it; null if calls on it are plain.
  KnownCommunicator* known(MPI_Comm communicator);
  /// Waits until the communicator can carry messages, which it can at once unless a cell was
  /// stopped. Returns the error code that the call must return if that fails.
  int prepare(const char* name, KnownCommunicator& known);
  /// The error code of calls on a communicator that can carry no messages any more, or if a rank of
  /// the world has died; otherwise success.
  int refuse_lost(const char* name, const KnownCommunicator& known);
  /// Waits until there are new carriers, if a cell was stopped. Returns the error code if that
  /// fails.
  int await_renewal(const char* name, const KnownCommunicator& known);
  /// A collective call begins: returns when all ranks have come, or returns the error code.
  /// called  its form; if the ranks hold the roll call in memory, they compare it.
  /// leaves  set if it was interrupted when all had come, so that leave() must follow the call.
  int arrive(const CalledForm& called, KnownCommunicator& known, bool& leaves);
  /// Whether this MPI keeps cores that ranks share while it waits: calls must yield them.
  bool shares_cores() const;
  /// Waits until `is_done`, which tests, is true. Otherwise returns the error code that the call
  /// must return, which has left the cell; clean_up is called before that.
  int wait(const char* name, const std::vector<Need>& needs, bool needs_all,
           const std::function<bool()>& is_done, const std::function<void()>& clean_up = {});
  /// Before a call that only some ranks of the communicator make together, and that cannot be left:
  /// returns when all of them have come; otherwise returns the error code, and none of them makes
  /// the call.
  /// members  at least two of its ranks, in the same order on all of them, including this one.
  /// tag      distinguishes calls of the same ranks.
  /// makes_domain  whether they make a communicator that belongs to their own domain.
  /// Any thread; threads of one rank wait for each other.
  int meet(const char* name, const KnownCommunicator& known, const std::vector<int>& members,
           int tag, bool makes_domain);
  /// Leaves the cell because of an interrupt; returns the error code.
  int leave(const char* name);
  /// Call it between unsuccessful tests in the user's own loop: answers interrupts as wait() does.
  int look(const char* name, const std::vector<Need>& needs, bool needs_all);
  /// Whether roll calls with other ranks are held on it. Any thread.
  bool has_others(MPI_Comm communicator);
  /// Whether a cell was stopped since the ranks have made it. Any thread.
  bool has_stopped_since_made(MPI_Comm communicator) const;
  /// A communicator was made by its ranks.
  /// by  the one whose collective call has made it, which all ranks have reached, and to whose
  /// domain it belongs; MPI_COMM_NULL: none, it belongs to the domain of its ranks. Any thread.
  void made(MPI_Comm communicator, MPI_Comm by = MPI_COMM_NULL);
  /// Whether the ranks of a communicator that they have just made are in the same epoch of their
  /// domain, as they must be when they call made() without `by`. All of them call it. Any thread.
  bool are_in_one_epoch(MPI_Comm communicator);
  /// An attribute of a communicator was set.
  void set_attribute(MPI_Comm communicator, int key, const void* value);
  /// Whether an attribute contains a duplicate of the communicator that was made before a cell was
  /// stopped, or whose making was stopped. Any thread.
  bool is_stale_duplicate(MPI_Comm communicator, int key) const;
  /// Makes a duplicate of the communicator at `result` by `make`, which returns MPI's code; it may
  /// be one that an attribute contains. Any thread.
  int duplicate(MPI_Comm communicator, const MPI_Comm* result, const std::function<int()>& make);
  /// Frees the communicator and its carriers.
  /// release  MPI_Comm_free or its counterpart. Any thread.
  int free(const char* name, MPI_Comm* communicator, int (*release)(MPI_Comm*));
  // The files and windows of the cells, each with the communicator of its roll calls. Any thread.

  template <typename Handle>
  void own(Handle handle, MPI_Comm communicator) {
    const CallLock::Holding alone{lock()};
    shared().own(handle) = communicator;
  }
  /// MPI_COMM_NULL if it has none.
  template <typename Handle>
  MPI_Comm own_of(Handle handle) {
    const CallLock::Holding alone{lock()};
    return shared().find(handle);
  }
  template <typename Handle>
  MPI_Comm take_own(Handle handle) {
    const CallLock::Holding alone{lock()};
    return shared().take(handle);
  }
  /// Refuses a message that a rank which has left may have overwritten while it was sent.
  int check_source(const char* name, KnownCommunicator& known, int source);
  /// Call it before a receive from that rank: the error code if it has left.
  int check_sender(const char* name, KnownCommunicator& known, int source);

  // ------------------------------------------------------------ requests

  /// known  of the communicator.
  /// peer   a rank of the communicator; negative: any, or all.
  Need need(Need::Operation kind, MPI_Comm communicator, const KnownCommunicator* known, int peer,
            int tag = MpiCall::none);
  /// The cell waits for it, or tests it.
  void uses(const Need& need);
  /// The requests that the cells have begun.
  CellRequests& requests();
  /// MPI has returned an error from a collective call that all ranks had reached.
  void failed(const KnownCommunicator& known);
  /// Whether the request was begun before a cell was stopped, so that it never completes.
  bool is_stale(const Need& need) const;
  /// Refuses to wait for such a request; the error code.
  int refuse_stale(const char* name);

 private:
  Need need(Need::Operation kind, const KnownCommunicator* known, int peer, int tag) const;
  HandleCommunicators& shared();
  void hold_jumps(bool holds);
  static void called_by_library();

  /// The latest call of the main thread.
  static inline std::atomic<bool> is_library_call = false;

  explicit MpiSteps(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  CallLock& lock_;
  int& depth_;  // nesting of calls within calls on the main thread
  const bool holds_jumps_;
};

}  // namespace px::engine
