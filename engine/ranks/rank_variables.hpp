#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/environment.hpp"
#include "wire/rank_plan.hpp"

namespace px::engine {

/// The place of an engine among those that were started with it.
struct RankPlace {
  int rank = 0, size = 1;
  std::optional<int> local_rank = {}, local_size = {};  ///< Among the engines of its host.
  std::optional<int> host = {};                         ///< Which host that is, from 0.
  bool operator==(const RankPlace&) const = default;
};

/// Under MPI what the launcher's environment says: mpiexec, MPICH, Intel MPI, PMIx or srun. Else
/// what pxcluster has planned for the engine of number $PX_ENGINE_NUMBER. Nothing where neither
/// says it, e.g. for an engine that was started by hand, or added to others.
std::optional<RankPlace> find_rank_place(const program::Environment& environment, bool is_mpi,
                                         const RankPlan& plan);

/// The variables by which torch.distributed ("env://"), accelerate, Lightning and JAX learn the
/// place: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK (the host), MASTER_ADDR,
/// MASTER_PORT, TORCHELASTIC_RUN_ID (by which Lightning sees that it need not start processes) and
/// JAX_COORDINATOR_ADDRESS. Those that the environment has already, and those that are not known,
/// are left out; all of them where $POLYXEUS_RANK_VARIABLES is "0".
std::vector<std::pair<std::string, std::string>> rank_variables(
    const program::Environment& environment, bool is_mpi, const RankPlan& plan);

}  // namespace px::engine
