#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cluster/records/cluster_record.hpp"
#include "cluster/records/restart_report.hpp"
#include "os/processes.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// What the pxcluster of this pid says of its restarts.
using ReadRestartReport = std::function<std::optional<RestartReport>(int supervisor)>;

/// Asks each pxcluster that has started engines of this cluster to end them and to start them
/// again, one after the other, and waits until they are registered. Gives the number of engines.
/// engine_set  the id of the only set to restart; empty: all.
/// errors      not_found: there is no such set; names those that there are;
///             unsupported: the engines were not started by pxcluster;
///             system: a pxcluster ended, or not all of its engines came back: says why.
Result<int> restart_engines(const ClusterRecord& record, const std::string& engine_set,
                            os::Processes& processes, const ReadRestartReport& read_report);

}  // namespace px::cluster
