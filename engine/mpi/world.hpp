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
  /// Its launcher ends all ranks when the connection of one to its PMIx server ends, at this TCP
  /// port; 0: it does not.
  int pmix_port = 0;
};

/// Rank and size from the variables that mpiexec, MPICH, Intel MPI, PMIx or srun set, without MPI
/// itself. Nothing where none of them has started this process.
std::optional<World> find_world(const program::Environment& environment);

}  // namespace px::engine
