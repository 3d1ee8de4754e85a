#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cluster/records/record_file.hpp"
#include "wire/connection_info.hpp"

namespace px::cluster {

/// A running controller that pxcluster has not started: a user ran `pxcontroller`, or ipyparallel's
/// `ipcontroller`.
struct HandStarted {
  std::string host;  ///< The host that its connection file names.
  /// Set if it is certainly this process of this host; nothing: it runs elsewhere, or its file does
  /// not say.
  std::optional<RecordedProcess> process;
  /// The number of registered engines; nothing: the controller does not answer.
  std::optional<int> engine_count;
};

/// The number of engines of this file's controller; nothing if it does not answer.
using CountEngines = std::function<std::optional<int>(const ClientConnectionInfo&)>;

/// The controller of the clients' connection file of `paths`. If a killed controller has left the
/// file behind there is none: its process has ended, and it does not answer.
std::optional<HandStarted> find_hand_started(const net::ProfilePaths& paths,
                                             os::Processes& processes, const CountEngines& count);

/// Like find_hand_started(), unless pxcluster has started the controller of this name or is about
/// to.
/// found  the result of load_cluster() for the same paths
std::optional<HandStarted> hand_started_beside(const net::ProfilePaths& paths,
                                               const Result<FoundCluster>& found,
                                               os::Processes& processes, const CountEngines& count);

/// Asks the controller, at most a second at each of its addresses. Opens no ssh tunnel.
std::optional<int> count_engines(const ClientConnectionInfo& info);

}  // namespace px::cluster
