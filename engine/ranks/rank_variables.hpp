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
  std::optional<int> host = {};                         ///< The index of that host, from 0.
  bool operator==(const RankPlace&) const = default;
};

/// Under MPI the place in the launcher's environment: mpiexec, MPICH, Intel MPI, PMIx or srun.
/// Otherwise the plan of pxcluster for the engine with number $PX_ENGINE_NUMBER. Nothing if neither
/// is available, e.g. for an engine that was started by hand, or added to others.
std::optional<RankPlace> find_rank_place(const program::Environment& environment, bool is_mpi,
                                         const RankPlan& plan);

/// The variables from which torch.distributed ("env://"), accelerate, Lightning and JAX learn the
/// place: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK (the host), MASTER_ADDR,
/// MASTER_PORT, TORCHELASTIC_RUN_ID (which tells Lightning that it need not start processes) and
/// JAX_COORDINATOR_ADDRESS. Variables that the environment already has, and unknown ones, are left
/// out; all of them if $POLYXEUS_RANK_VARIABLES is "0".
std::vector<std::pair<std::string, std::string>> rank_variables(
    const program::Environment& environment, bool is_mpi, const RankPlan& plan);

}  // namespace px::engine
