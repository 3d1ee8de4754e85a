#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cluster/records/record_file.hpp"
#include "wire/connection_info.hpp"

namespace px::cluster {

/// A controller that runs and that no pxcluster has started: somebody has typed `pxcontroller`, or
/// ipyparallel's `ipcontroller`.
struct HandStarted {
  std::string host;  ///< Where it runs, as its connection file says.
  /// It is surely this process of this host; nothing: it runs elsewhere, or its file does not say.
  std::optional<RecordedProcess> process;
  /// Of the engines that are registered; nothing: the controller does not answer.
  std::optional<int> engine_count;
};

/// How many engines the controller of this file has; nothing where none answers.
using CountEngines = std::function<std::optional<int>(const ClientConnectionInfo&)>;

/// The controller that the clients' connection file of `paths` leads to. A file that a killed one
/// has left behind leads to none: its process is gone, and nobody answers.
std::optional<HandStarted> find_hand_started(const net::ProfilePaths& paths,
                                             os::Processes& processes, const CountEngines& count);

/// find_hand_started(), unless pxcluster has started the controller of this name or is about to.
/// found  what load_cluster() says of the same paths
std::optional<HandStarted> hand_started_beside(const net::ProfilePaths& paths,
                                               const Result<FoundCluster>& found,
                                               os::Processes& processes, const CountEngines& count);

/// Asks the controller, for a second at each of its addresses. Opens no ssh tunnel.
std::optional<int> count_engines(const ClientConnectionInfo& info);

}  // namespace px::cluster
