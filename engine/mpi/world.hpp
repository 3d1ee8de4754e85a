#pragma once

#include <optional>
#include <string>

#include "program/environment.hpp"
#include "wire/ids.hpp"

namespace px::engine {

/// The MPI world into which the launcher has put this process.
struct World {
  Rank rank;
  int size = 1;
  std::string launcher;  ///< "Open MPI", "PMI", "PMIx" or "Slurm"; for messages.
  std::string name;      ///< Different for each run of the launcher, if the launcher reports it.
  /// The TCP port of the launcher's PMIx server if the launcher ends all ranks when the connection
  /// of one to that server ends; 0: it does not.
  int pmix_port = 0;
};

/// Rank and size from the variables that mpiexec, MPICH, Intel MPI, PMIx or srun set, without MPI
/// itself. Nothing if none of them has started this process.
std::optional<World> find_world(const program::Environment& environment);

}  // namespace px::engine
