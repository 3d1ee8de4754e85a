#pragma once

#include "cluster/process/console.hpp"
#include "net/discovery/profile_paths.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// Stops one cluster, and removes its remaining files. A controller that was started by hand
/// removes its connection files itself, or keeps them for the next one (--reuse).
/// signal  the first one for the processes; engines that were started by hand are asked to end.
/// errors  not_found: no such cluster; unsupported: its controller was started by hand, and is not
///         certainly a process of this host; system: a process did not end.
Result<void> stop_cluster(const net::ProfilePaths& paths, int signal, Console& console);

}  // namespace px::cluster
