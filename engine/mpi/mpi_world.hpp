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

/// MPI for a C++ engine, which itself is built without one: MpiLibrary makes it, of the MPI whose
/// launcher has started the engine. For the main thread.
class MpiWorld {
 public:
  MpiWorld() = default;
  virtual ~MpiWorld() = default;
  MpiWorld(MpiWorld&&) = delete;

  virtual Rank rank() const = 0;
  /// The ranks of the world whose engines speak C++ as well, this one among them.
  virtual const std::vector<Rank>& peers() const = 0;
  /// "MPI_THREAD_FUNNELED" ...: what the MPI grants.
  virtual std::string thread_level() const = 0;
  /// "Open MPI v4.1.4": one line.
  virtual std::string name() const = 0;

  /// What `find` gives on rank 0, on all ranks of the world, whatever they speak. Its failure there
  /// is one on all.
  virtual Result<std::string> give_from_rank_0(
      const std::function<Result<std::string>()>& find) = 0;

  /// Votes with the other ranks on whether the cell runs. Waits for all of them.
  /// is_interrupted  asked now and then; true gives it up.
  /// Returns nothing where that happened.
  virtual std::optional<Verdict> agree(const SharedCell& cell, bool compiles,
                                       const std::string& reason,
                                       const std::function<bool()>& is_interrupted) = 0;

  /// From now on MPI's errors and calls that cannot be made leave a cell by hooks.fail, and the MPI
  /// calls of cells answer interrupts (MpiSteps). All ranks of the world call it or its like at
  /// once; wants  whether this one takes part. The watch watches nothing where it does not.
  virtual CellWatch watch_calls(bool wants, CellHooks hooks) = 0;

  /// MPI_Finalize, which waits for the other ranks.
  virtual void leave() = 0;
};

}  // namespace px::engine
