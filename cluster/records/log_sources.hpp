#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/remote/ssh_plan.hpp"
#include "net/discovery/profile_paths.hpp"

namespace px::cluster {

/// Where the log of one program can be read: in a file here, or through the watcher of a host.
struct LogSource {
  std::string label;           ///< "controller", "engine 3", "engine 4 (host2)", "pxcluster".
  std::filesystem::path file;  ///< Empty: on the host of `remote`.
  std::optional<SshHostPlan> remote;
  int remote_engine = -1;  ///< Its number there.
};

/// What a name in the log folder is the log of; `engine` is counted over all that there are.
/// names   those of one cluster, in any order.
/// remote  the hosts whose watchers live.
std::vector<LogSource> list_log_sources(const std::filesystem::path& folder,
                                        std::vector<std::string> names,
                                        const std::vector<SshHostPlan>& remote);

/// What there is for the cluster of `paths`, read from its folders.
std::vector<LogSource> find_log_sources(const net::ProfilePaths& paths);

/// Those that the user means: all; or by number, label or a part of it.
std::vector<LogSource> choose_sources(std::vector<LogSource> sources, const std::string& wanted);

}  // namespace px::cluster
