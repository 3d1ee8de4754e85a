#pragma once

#include <optional>

#include "program/environment.hpp"

namespace px::engine {

/// How many threads one of several ranks on a host should use, so that all of them together have as
/// many as there are cores: what OMP_NUM_THREADS is to be. Nothing where the user has set that
/// variable, or the launcher does not say that there are other ranks here.
/// own_cores   that this process may run on; a launcher that binds ranks to cores leaves few.
/// host_cores  that all ranks of this host may run on together.
std::optional<int> threads_of_rank(const program::Environment& environment, int own_cores,
                                   int host_cores);

/// Cores that the process `pid` may run on, 0 = this one; 1 where the system does not say.
int count_usable_cores(int pid);

}  // namespace px::engine
