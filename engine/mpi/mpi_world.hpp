#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/mpi/cell_hooks.hpp"
#include "engine/mpi/cell_vote.hpp"
#include "engine/mpi/watched_cells.hpp"
#include "engine/mpi/world.hpp"
#include "wire/error.hpp"

namespace px::engine {

/// MPI for a C++ engine, which is built without one: MpiLibrary makes it, with the MPI whose
/// launcher has started the engine. For the main thread.
class MpiWorld {
 public:
  MpiWorld() = default;
  virtual ~MpiWorld() = default;
  MpiWorld(MpiWorld&&) = delete;

  virtual Rank rank() const = 0;
  /// The ranks of the world whose engines run C++ as well, this one included.
  virtual const std::vector<Rank>& peers() const = 0;
  /// The thread level that the MPI grants: "MPI_THREAD_FUNNELED" ...
  virtual std::string thread_level() const = 0;
  /// "Open MPI v4.1.4": one line.
  virtual std::string name() const = 0;

  /// Returns, on all ranks of the world, the result of `find` on rank 0, whatever languages they
  /// run. A failure of `find` is returned on all of them.
  virtual Result<std::string> give_from_rank_0(
      const std::function<Result<std::string>()>& find) = 0;

  /// Votes with the other ranks on whether the cell runs. Waits for all of them.
  /// is_interrupted  called repeatedly; true ends the wait.
  /// Returns nothing if the wait was ended.
  virtual std::optional<Verdict> agree(const SharedCell& cell, bool compiles,
                                       const std::string& reason,
                                       const std::function<bool()>& is_interrupted) = 0;

  /// From now on MPI's errors and calls that cannot be made leave a cell through hooks.fail, and
  /// the MPI calls of cells answer interrupts (MpiSteps). All ranks of the world must call this
  /// function or its counterpart at once.
  /// wants  whether this rank takes part; if not, the returned watch does nothing.
  virtual CellWatch watch_calls(bool wants, CellHooks hooks) = 0;

  /// Calls MPI_Finalize, which waits for the other ranks.
  virtual void leave() = 0;
};

}  // namespace px::engine
