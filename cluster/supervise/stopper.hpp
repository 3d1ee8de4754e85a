#pragma once

#include <csignal>
#include <optional>

#include "cluster/records/cluster_record.hpp"
#include "os/processes.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// Ends the running processes of a cluster, and waits until they have ended.
/// supervisor  the pxcluster that watches it: it is asked first, and does the rest itself.
/// signal      the first one sent; SIGKILL follows after 5 s if that does not help.
/// errors      unsupported: its engines were started in a way that cannot be undone;
///             system: a process does not end even by SIGKILL; the message names the pids.
Result<void> stop_processes(const ClusterRecord& living, std::optional<int> supervisor, int signal,
                            os::Processes& processes);

}  // namespace px::cluster
