#pragma once

#include <csignal>
#include <optional>

#include "cluster/records/cluster_record.hpp"
#include "os/processes.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// Ends what runs of a cluster, and waits until it is gone.
/// supervisor  the pxcluster that watches over it: it is asked first, and does the rest itself.
/// signal      the first one sent; SIGKILL follows after 5 s where it does not help.
/// errors      unsupported: its engines were started in a way that we cannot undo;
///             system: something does not even end by SIGKILL; names the pids.
Result<void> stop_processes(const ClusterRecord& living, std::optional<int> supervisor, int signal,
                            os::Processes& processes);

}  // namespace px::cluster
