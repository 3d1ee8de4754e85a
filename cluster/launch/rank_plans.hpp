#pragma once

#include <string>
#include <vector>

#include "cluster/launch/launcher.hpp"
#include "wire/rank_plan.hpp"

namespace px::cluster {

/// Which ranks the engines are on these hosts, and how the other hosts reach the first one.
/// shares  how many engines each host gets, as share_engines() says.
RankPlan plan_ranks(const LaunchRequest& request, const std::vector<int>& shares,
                    const Machine& machine);

/// The variables by which an environment tells a process its rank, e.g. that of an engine's cell or
/// of a program of torchrun: RANK, LOCAL_RANK, ... One value for all engines would be wrong, so
/// they are not passed on. Of MASTER_ADDR, MASTER_PORT and JAX_COORDINATOR_ADDRESS those that a
/// user has set stay; they are listed only if one of the others is set, too.
std::vector<std::string> variables_of_one_rank(const Machine& machine);

/// Two ports, for torch.distributed and for JAX, at which no program of this host listens now;
/// below those that systems give to connections. Empty where there is none.
std::vector<int> choose_rank_ports();

}  // namespace px::cluster
