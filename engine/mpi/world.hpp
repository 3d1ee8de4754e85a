#pragma once

#include <optional>
#include <string>

#include "program/environment.hpp"
#include "wire/ids.hpp"

namespace px::engine {

/// The MPI world that the launcher has put this process into.
struct World {
  Rank rank;
  int size = 1;
  std::string launcher;  ///< "Open MPI", "PMI", "PMIx" or "Slurm"; for messages.
  std::string name;      ///< Another one for another run of the launcher, where it says so.
  /// When a rank dies its launcher ends the others, and nothing keeps it from that.
  bool dies_as_one = false;
};

/// Rank and size from the variables that mpiexec, MPICH, Intel MPI, PMIx or srun set, without MPI
/// itself. Nothing where none of them has started this process.
std::optional<World> find_world(const program::Environment& environment);

}  // namespace px::engine
