#pragma once

#include <optional>

#include "program/environment.hpp"

namespace px::engine {

/// The number of threads that one of several ranks on a host should use, so that all of them
/// together have as many as there are cores: the value of OMP_NUM_THREADS. Nothing if the user has
/// set that variable, or the launcher does not report other ranks on this host.
/// own_cores   the cores that this process may use; few if the launcher binds ranks to cores.
/// host_cores  the cores that all ranks of this host may use together.
std::optional<int> threads_of_rank(const program::Environment& environment, int own_cores,
                                   int host_cores);

/// The number of cores that the process `pid` may use, 0: this process; 1 if the system does not
/// report it.
int count_usable_cores(int pid);

}  // namespace px::engine
