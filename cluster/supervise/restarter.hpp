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

/// How a pxcluster, identified by its pid, receives an order and answers. Tests have their own.
struct RestartChannel {
  /// Reads its report about restarts.
  std::function<std::optional<RestartReport>(int supervisor)> read_report;
  /// Orders it to restart these engines; empty: all that it has started.
  std::function<Result<void>(int supervisor, const std::vector<PlacedEngine>& engines)> write_order;
};

/// Whether the chosen engines can be restarted without the others.
/// known   all engines of the cluster, including lost ones.
/// errors  unsupported: they are ranks of an MPI world or of a job: the message gives the remedy.
Result<void> check_single_starts(const ClusterRecord& record, const RestartChoice& choice,
                                 const std::vector<PlacedEngine>& known);

/// Asks each pxcluster that has started engines of this cluster to restart them, one after the
/// other, and waits until they are registered. Returns the number of engines.
/// errors  not_found: there is no such set; the message names the existing ones;
///         unsupported: the engines were not started by pxcluster, or cannot be restarted singly;
///         system: a pxcluster ended, or some of its engines did not return: the message says why.
Result<int> restart_engines(const ClusterRecord& record, const RestartChoice& choice,
                            os::Processes& processes, const RestartChannel& channel);

}  // namespace px::cluster
