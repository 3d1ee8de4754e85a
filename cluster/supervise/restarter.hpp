#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cluster/records/cluster_record.hpp"
#include "cluster/records/placed_engine.hpp"
#include "cluster/records/restart_report.hpp"
#include "os/processes.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// How a pxcluster, named by its pid, gets an order and answers. A test has its own.
struct RestartChannel {
  /// What it says of its restarts.
  std::function<std::optional<RestartReport>(int supervisor)> read_report;
  /// Says which engines it is to restart; empty: all that it has started.
  std::function<Result<void>(int supervisor, const std::vector<PlacedEngine>& engines)> write_order;
};

/// Whether the chosen engines can be started without the others.
/// known   all engines of the cluster, also lost ones.
/// errors  unsupported: they are ranks of an MPI world or of a job: says what can be done.
Result<void> check_single_starts(const ClusterRecord& record, const RestartChoice& choice,
                                 const std::vector<PlacedEngine>& known);

/// Asks each pxcluster that has started engines of this cluster to end them and to start them
/// again, one after the other, and waits until they are registered. Gives the number of engines.
/// errors  not_found: there is no such set; names those that there are;
///         unsupported: the engines were not started by pxcluster, or not singly;
///         system: a pxcluster ended, or not all of its engines came back: says why.
Result<int> restart_engines(const ClusterRecord& record, const RestartChoice& choice,
                            os::Processes& processes, const RestartChannel& channel);

}  // namespace px::cluster
