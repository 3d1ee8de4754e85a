#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/mpi/cell_vote.hpp"
#include "engine/mpi/roll_call.hpp"

namespace px::engine {

/// What the MPI calls of cells need of the session that runs them.
struct CellHooks {
  /// Whether leave() is to be called.
  std::function<bool()> is_interrupted;
  /// Leaves the cell by an exception. where  for the user: "in MPI_Barrier".
  std::function<void(const std::string& where)> leave;
  /// From true to false a second interrupt must not leave the cell by force, as the first one is
  /// answered soon.
  std::function<void(bool)> hold_jumps;
};

/// Makes the blocking MPI calls of cells answer an interrupt, and brings the ranks back into step
/// when one did. Such calls poll; a collective call begins with a roll call, a nonblocking barrier,
/// so that none is ever left in its midst: before all ranks are there, nobody's memory is touched.
/// For the main thread. (docs/decisions/0009-interrupts-in-mpi.md)
class MpiSteps {
 public:
  /// communicator  of the ranks whose engines do this, for our notes alone.
  /// ranks         those ranks, in the order of that communicator.
  MpiSteps(MPI_Comm communicator, Rank own, const std::vector<Rank>& ranks, CellHooks hooks);
  ~MpiSteps();
  MpiSteps(const MpiSteps&) = delete;
  MpiSteps& operator=(const MpiSteps&) = delete;

  /// The one that the calls of the calling thread are to use; null where they are plain calls.
  static MpiSteps* of_this_thread();

  /// The cell that runs from now on; nothing where no other rank runs it.
  void begin_cell(std::optional<SharedCell> cell);
  /// This rank was interrupted outside of MPI, or is in no cell any more: tells the others that it
  /// comes to none of the calls in which they wait, and helps to end these. Takes a moment, at most
  /// 1.5 s where others do not answer.
  void settle();
  /// Whether there is a call that this rank has left and that is still open.
  bool is_out_of_step() const;
  /// To be called by all ranks of the cell: closes what can be closed.
  void settle_all(const SharedCell& cell);

  bool holds_roll_calls_on(MPI_Comm communicator) { return number_of(communicator) != 0; }
  /// The same on all of its ranks; 0 where no roll calls are held on it.
  std::uint64_t number_of(MPI_Comm communicator);
  /// A collective call came: returns when all ranks are there. Leaves the cell where it is
  /// interrupted and some are not. True: it was interrupted, so leave() is to follow the call.
  bool arrive(const char* name, MPI_Comm communicator);
  /// A communicator was made.
  void made(MPI_Comm communicator);
  /// Waits until `is_done`, which tests. False: it was interrupted.
  bool wait(const std::function<bool()>& is_done);
  /// Leaves the cell because of an interrupt.
  void leave(const char* name);
  /// The same, while a message is not sent yet.
  void leave_sending(const char* name, MPI_Comm communicator, int to, int tag, std::int64_t bytes,
                     MPI_Request request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::engine
