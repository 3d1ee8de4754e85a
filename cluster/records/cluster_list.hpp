#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/records/hand_started.hpp"
#include "cluster/records/record_file.hpp"

namespace px::cluster {

/// A process with which a cluster ends.
struct ClusterOwner {
  int pid = 0;
  std::string command;  ///< With its arguments; may be empty.
};

/// The owner of a running cluster; nothing: it runs until it is stopped.
/// command_of  the command line of a process, empty if it has ended.
std::optional<ClusterOwner> owner_of(const ClusterRecord& living,
                                     const std::function<std::string(int pid)>& command_of);

/// A cluster of the list, and its owner.
struct ListedCluster {
  FoundCluster found;
  std::optional<ClusterOwner> owner;
  std::optional<HandStarted> by_hand = {};    ///< Its controller, if pxcluster has not started it.
  std::optional<std::string> elsewhere = {};  ///< The result of runs_elsewhere().
};

/// The table of `list`: a header and a row for each cluster, in the form of ipcluster.
/// has_owners  adds a column, which programs that read ipcluster's table do not expect.
std::string list_as_text(const std::vector<ListedCluster>& clusters,
                         const std::filesystem::path& ipython_dir, bool has_owners);

/// `list -o json`: an array of the running parts of the cluster files, with the owners. If the
/// controller was started by hand, "by_hand" contains its pid, its host and its number of engines.
std::string list_as_json(const std::vector<ListedCluster>& clusters);

/// "Local", "MPI": ipcluster's name of a launcher in its list.
std::string launcher_title(std::string_view launcher);

}  // namespace px::cluster
