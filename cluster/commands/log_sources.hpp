#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cluster/remote/ssh_plan.hpp"
#include "net/discovery/profile_paths.hpp"

namespace px::cluster {

/// The place of the log of one program: a file on this host, or a host whose watcher can read it.
struct LogSource {
  std::string label;  ///< "controller", "engine 3", "engines 0-3", "engine 4 (host2)", "pxcluster".
  std::filesystem::path file;  ///< Empty: on the host of `remote`.
  std::optional<SshHostPlan> remote;
  int remote_engine = -1;            ///< Its index on that host.
  std::vector<int> engine_ids = {};  ///< The engines that write it; empty: none, or unknown.
};

/// The ids that engines got according to their log, each once, ascending.
std::vector<int> engine_ids_in(std::istream& log);

/// The logs that the names in a log folder belong to. Engines are numbered over all that exist,
/// until name_by_ids() knows their ids.
/// names   those of one cluster, in any order.
/// remote  the hosts whose watchers run.
std::vector<LogSource> list_log_sources(const std::filesystem::path& folder,
                                        std::vector<std::string> names,
                                        const std::vector<SshHostPlan>& remote);

/// Names the log of each engine on this host, which `ids_in` reads, by the ids of its engines: they
/// register in any order, and under MPI one log is that of all ranks. An engine that has no id yet
/// is called "engine without id".
void name_by_ids(std::vector<LogSource>& sources,
                 const std::function<std::vector<int>(const std::filesystem::path& file)>& ids_in);

/// The logs of the cluster of `paths`, found in its folders.
std::vector<LogSource> find_log_sources(const net::ProfilePaths& paths);

/// The sources that the user selects: all; or by engine id, label or a part of it.
std::vector<LogSource> choose_sources(std::vector<LogSource> sources, const std::string& wanted);

}  // namespace px::cluster
