#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/mpi/call_place.hpp"
#include "engine/mpi/cell_hooks.hpp"
#include "engine/mpi_calls/cell_requests.hpp"
#include "engine/mpi_calls/communicators.hpp"
#include "engine/mpi_calls/rank_messages.hpp"
#include "engine/mpi_calls/shared_things.hpp"
#include "engine/mpi_calls/small_calls.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Makes the blocking MPI calls of cells answer an interrupt, and keeps the ranks in step when
/// calls were left. Such calls poll; a collective call begins with a roll call, a nonblocking
/// barrier, so that none is ever left in its midst: before all ranks are there, nobody's memory is
/// touched. A rank that leaves a call tells all others and goes on in the next epoch, in which each
/// communicator's messages travel over a fresh one: nothing that was sent before reaches a call of
/// an epoch after it. Ranks that wait for one that has left or failed are stopped too.
/// For the main thread. (docs/decisions/0009-interrupts-in-mpi.md)
class MpiSteps {
 public:
  /// Call it on all ranks of the world at once, when MPI is initialized. wants  whether this rank
  /// takes part. Returns nothing on ranks that do not, or if no other one does. Ranks wait for one
  /// that has failed or left for as many seconds as $POLYXEUS_MPI_GRACE says (2).
  static std::unique_ptr<MpiSteps> join(bool wants, CellHooks hooks);
  ~MpiSteps();
  MpiSteps(const MpiSteps&) = delete;
  MpiSteps& operator=(const MpiSteps&) = delete;

  /// The one that the calls of the calling thread are to use; null where they are plain calls.
  static MpiSteps* of_this_thread();
  /// What carries the communicator's messages. Any thread.
  static MPI_Comm current(MPI_Comm communicator);

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
  /// or answers the first one. They may be nested.
  void enter();
  void exit();
  /// The communicator as this rank knows it; null where calls on it are plain.
  KnownCommunicator* known(MPI_Comm communicator);
  /// Waits until the communicator can carry messages, which it can at once unless a cell was
  /// stopped. Otherwise the error code that the call returns.
  int prepare(const char* name, KnownCommunicator& known);
  /// Waits until there are fresh communicators, if a cell was stopped. Otherwise the error code.
  int await_renewal(const char* name, const KnownCommunicator& known);
  /// A collective call came: returns when all ranks are there. Otherwise the error code.
  /// leaves  it was interrupted when all were there, so leave() is to follow the call.
  /// small   what this rank gives to it, for all to read where they hold the roll call in memory.
  int arrive(const char* name, KnownCommunicator& known, const SmallCall& small, bool& leaves);
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
  /// A communicator was made by its ranks.
  void made(MPI_Comm communicator);
  /// An attribute of a communicator was set.
  void set_attribute(MPI_Comm communicator, int key, const void* value);
  /// Whether an attribute holds a duplicate of the communicator that was made before a cell was
  /// stopped, or whose making was stopped.
  bool is_stale_duplicate(MPI_Comm communicator, int key) const;
  /// Makes a duplicate of the communicator at `result` by `make`, which returns MPI's code; it may
  /// be one that an attribute holds.
  int duplicate(MPI_Comm communicator, const MPI_Comm* result, const std::function<int()>& make);
  /// Frees the communicator and what carried its messages. release  MPI_Comm_free or its like.
  int free(const char* name, MPI_Comm* communicator, int (*release)(MPI_Comm*));
  /// The files and windows of the cells.
  SharedThings& shared();
  /// A message that a rank which has left may have overwritten while it was sent is none.
  int check_source(const char* name, KnownCommunicator& known, int source);
  /// Before a receive from that rank: the error code where it has left.
  int check_sender(const char* name, KnownCommunicator& known, int source);

  // ------------------------------------------------------------ requests

  /// peer  a rank of the communicator; negative: any, or all.
  Need need(Need::Kind kind, const KnownCommunicator* known, int peer,
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
  struct State;
  explicit MpiSteps(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace px::engine
