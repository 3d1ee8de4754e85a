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

/// The owner of a cluster that lives; nothing: it runs until it is stopped.
/// command_of  the command line of a process, empty where it is gone.
std::optional<ClusterOwner> owner_of(const ClusterRecord& living,
                                     const std::function<std::string(int pid)>& command_of);

/// A cluster of the list, and whose it is.
struct ListedCluster {
  FoundCluster found;
  std::optional<ClusterOwner> owner;
  std::optional<HandStarted> by_hand = {};  ///< Its controller, where no pxcluster has started it.
  std::optional<std::string> elsewhere = {};  ///< As runs_elsewhere() says.
};

/// The table of `list`: a header and a row for each cluster, as ipcluster prints it.
/// has_owners  with a column more, which programs that read ipcluster's table do not expect.
std::string list_as_text(const std::vector<ListedCluster>& clusters,
                         const std::filesystem::path& ipython_dir, bool has_owners);

/// `list -o json`: an array of what their cluster files say of what lives, and the owner. Where the
/// controller was started by hand "by_hand" says its pid, its host and how many engines it has.
std::string list_as_json(const std::vector<ListedCluster>& clusters);

/// "Local", "MPI": as ipcluster calls a launcher in its list.
std::string launcher_title(std::string_view launcher);

}  // namespace px::cluster
