#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/mpi/cell_vote.hpp"
#include "engine/mpi/world.hpp"
#include "engine/mpi_calls/mpi_steps.hpp"

namespace px::engine {

/// MPI for a C++ engine. For the main thread.
class MpiWorld {
 public:
  /// Initializes MPI: returns when all ranks have done so.
  /// expected  the world that the launcher says.
  /// peers     the ranks whose engines speak C++ as well, this one among them.
  /// errors    bad_input: MPI sees another world, so it is another MPI than the launcher's.
  static Result<std::unique_ptr<MpiWorld>> join(const World& expected, std::vector<Rank> peers);
  ~MpiWorld();

  Rank rank() const;
  const std::vector<Rank>& peers() const;
  /// "MPI_THREAD_FUNNELED" ...: what the library grants.
  std::string thread_level() const;
  /// "Open MPI v4.1.4": one line.
  static std::string library();

  /// What `find` gives on rank 0, on all ranks of the world, whatever they speak. Its failure there
  /// is one on all.
  Result<std::string> give_from_rank_0(const std::function<Result<std::string>()>& find);

  /// Votes with the other ranks on whether the cell runs. Waits for all of them.
  /// is_interrupted  asked now and then; true gives it up.
  /// Returns nothing where that happened.
  std::optional<Verdict> agree(const SharedCell& cell, bool compiles, const std::string& reason,
                               const std::function<bool()>& is_interrupted);

  /// From now on the MPI calls of cells answer interrupts (MpiSteps). All ranks of the world call
  /// it or its like at once; wants  whether this one takes part. Returns null where it does not.
  MpiSteps* watch_calls(bool wants, CellHooks hooks);

  /// MPI_Finalize, which waits for the other ranks.
  void leave();

 private:
  struct State;
  explicit MpiWorld(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace px::engine
