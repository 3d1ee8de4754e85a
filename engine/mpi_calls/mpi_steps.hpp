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

/// Makes the blocking MPI calls of cells answer an interrupt, and keeps the ranks in step when
/// calls were left. Such calls poll; a collective call begins with a roll call, which is
/// polled, so that none is ever left in its midst: before all ranks are there, nobody's memory is
/// touched. A rank that leaves a call tells all others and goes on in the next epoch, in which each
/// communicator's messages travel over a fresh one: nothing that was sent before reaches a call of
/// an epoch after it. Ranks that wait for one that has left or failed are stopped too.
/// For the main thread; other threads may make collective calls, too, which take part in roll calls
/// and cannot be interrupted: one that waits when the main thread leaves the epoch is refused.
/// What is not said to be for any thread needs an InCall.
/// (docs/decisions/0009-interrupts-in-mpi.md)
class MpiSteps {
 public:
  struct State;
  /// Call it on all ranks of the world at once, when MPI is initialized. wants  whether this rank
  /// takes part. Returns nothing on ranks that do not, or if no other one does. Ranks wait for one
  /// that has failed or left for as many seconds as $POLYXEUS_MPI_GRACE says (2).
  static std::unique_ptr<MpiSteps> join(bool wants, CellHooks hooks);
  ~MpiSteps();
  MpiSteps(MpiSteps&&) = delete;

  /// The one that the calls of the calling thread are to use; null where they are plain calls.
  static MpiSteps* of_this_thread();
  /// The one that collective calls of any thread are to use; null where they are plain calls.
  static MpiSteps* of_any_thread();
  /// The code from which MPI is called: a return address. The calls of libraries are not left by an
  /// interrupt that is not forced (StopPoint). Any thread may say so; the main thread's counts.
  static void called_from(const void* address) {
    if (!UserCode::has(address))
      called_by_library();
    else if (UserCode::is_known())
      is_library_call.store(false, std::memory_order_relaxed);
  }
  /// In this cell a stop is to wait for a collective call, though no library has called MPI.
  void use_stop_point();
  /// Not of the main thread: the error code of a call that the thread may not make any more, as its
  /// cell was stopped and waits for it; otherwise success.
  static int refuse_thread(const char* name);
  /// What carries the communicator's messages. Any thread.
  static MPI_Comm current(MPI_Comm communicator);
  /// Where the calling thread says in which call it is: for threads but the main one nobody looks.
  static CallPlace& call_place();

  /// What calls that were left return.
  int error_code() const;
  /// Between the ranks that take part and whose MPI lets any thread call it; null where this one is
  /// not among them, or no other one is.
  RankMessages* messages() const;

  // ------------------------------------------------------------ cells

  /// A cell begins. number  the same for the same cell on all ranks.
  void begin_cell(std::uint64_t number);
  /// It has ended. failure  why, in the past tense, where that was an error: "raised X: y".
  void end_cell(const std::optional<std::string>& failure);
  /// To be called now and then while no cell runs.  Returns when the next time is to be.
  Duration tick();

  // ------------------------------------------------------------ calls

  /// Between these two a second interrupt does not leave the cell by force, as the call ends soon
  /// or answers the first one, and no other thread uses this. They may be nested. Any thread.
  /// has_lock  what enter() has returned.
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
  /// What keeps its threads apart.
  CallLock& lock() const { return lock_; }
  /// MPI's part of a call, for which others do not have to wait. Returns what it returns.
  template <typename Operation>
  int outside(const Operation& operation) {
    const CallLock::Released others_may_call{lock()};
    return operation();
  }
  /// The communicator as this rank knows it; null where calls on it are plain.
  KnownCommunicator* known(MPI_Comm communicator);
  /// Waits until the communicator can carry messages, which it can at once unless a cell was
  /// stopped. Otherwise the error code that the call returns.
  int prepare(const char* name, KnownCommunicator& known);
  /// Waits until there are fresh communicators, if a cell was stopped. Otherwise the error code.
  int await_renewal(const char* name, const KnownCommunicator& known);
  /// A collective call came: returns when all ranks are there. Otherwise the error code.
  /// called  what it is; where the ranks hold the roll call in memory, they compare it.
  /// leaves  it was interrupted when all were there, so leave() is to follow the call.
  int arrive(const CalledForm& called, KnownCommunicator& known, bool& leaves);
  /// Whether this MPI keeps cores that ranks share while it waits: calls have to give them away.
  bool shares_cores() const;
  /// Waits until `is_done`, which tests. Otherwise the error code that the call returns, which has
  /// left the cell; clean_up is called before that.
  int wait(const char* name, const std::vector<Need>& needs, bool needs_all,
           const std::function<bool()>& is_done, const std::function<void()>& clean_up = {});
  /// Leaves the cell because of an interrupt; the error code.
  int leave(const char* name);
  /// Between looks of the user's own that were in vain: answers interrupts as wait() does.
  int look(const char* name, const std::vector<Need>& needs, bool needs_all);
  /// Whether roll calls with other ranks are held on it. Any thread.
  bool has_others(MPI_Comm communicator);
  /// A communicator was made by its ranks. by  the one whose collective call has made it, to which
  /// all ranks have come; MPI_COMM_NULL = none. Any thread.
  void made(MPI_Comm communicator, MPI_Comm by = MPI_COMM_NULL);
  /// An attribute of a communicator was set.
  void set_attribute(MPI_Comm communicator, int key, const void* value);
  /// Whether an attribute holds a duplicate of the communicator that was made before a cell was
  /// stopped, or whose making was stopped. Any thread.
  bool is_stale_duplicate(MPI_Comm communicator, int key) const;
  /// Makes a duplicate of the communicator at `result` by `make`, which returns MPI's code; it may
  /// be one that an attribute holds. Any thread.
  int duplicate(MPI_Comm communicator, const MPI_Comm* result, const std::function<int()>& make);
  /// Frees the communicator and what carried its messages. release  MPI_Comm_free or its like.
  /// Any thread.
  int free(const char* name, MPI_Comm* communicator, int (*release)(MPI_Comm*));
  // The files and windows of the cells, each with the communicator of its roll calls. Any thread.

  template <typename Handle>
  void own(Handle handle, MPI_Comm communicator) {
    const CallLock::Holding alone{lock()};
    shared().own(handle) = communicator;
  }
  /// MPI_COMM_NULL where it has none.
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
  /// A message that a rank which has left may have overwritten while it was sent is none.
  int check_source(const char* name, KnownCommunicator& known, int source);
  /// Before a receive from that rank: the error code where it has left.
  int check_sender(const char* name, KnownCommunicator& known, int source);

  // ------------------------------------------------------------ requests

  /// peer  a rank of the communicator; negative: any, or all.
  Need need(Need::Operation kind, const KnownCommunicator* known, int peer,
            int tag = MpiCall::none) const;
  /// What the cells have begun.
  CellRequests& requests();
  /// MPI has returned an error from a collective call to which all ranks had come.
  void failed(const KnownCommunicator& known);
  /// Whether the request was begun before a cell was stopped, so that it never completes.
  bool is_stale(const Need& need) const;
  /// Refuses to wait for such a request; the error code.
  int refuse_stale(const char* name);

 private:
  HandleCommunicators& shared();
  void hold_jumps(bool holds);
  static void called_by_library();

  /// Of the main thread: the call that it makes, or made last.
  static inline std::atomic<bool> is_library_call = false;

  explicit MpiSteps(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  CallLock& lock_;
  int& depth_;  // of calls within calls, of the main thread
  const bool holds_jumps_;
};

}  // namespace px::engine
