#pragma once

#include <string>
#include <vector>

#include "cluster/launch/launcher.hpp"
#include "wire/rank_plan.hpp"

namespace px::cluster {

/// The ranks of the engines on these hosts, and the address of the first one for other hosts.
/// shares  the number of engines on each host, from share_engines().
RankPlan plan_ranks(const LaunchRequest& request, const std::vector<int>& shares,
                    const Machine& machine);

/// The variables that tell a process its rank, e.g. in an engine's cell or a program of torchrun:
/// RANK, LOCAL_RANK, ... One value for all engines would be wrong, so they are not passed on.
/// MASTER_ADDR, MASTER_PORT and JAX_COORDINATOR_ADDRESS are kept if a user has set them; they are
/// listed only if one of the others is set, too.
std::vector<std::string> variables_of_one_rank(const Machine& machine);

/// Two ports, for torch.distributed and for JAX, on which no program of this host listens now;
/// below those that systems assign to connections. Empty if there are none.
std::vector<int> choose_rank_ports();

}  // namespace px::cluster
