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

/// Where the log of one program can be read: in a file here, or through the watcher of a host.
struct LogSource {
  std::string label;  ///< "controller", "engine 3", "engines 0-3", "engine 4 (host2)", "pxcluster".
  std::filesystem::path file;  ///< Empty: on the host of `remote`.
  std::optional<SshHostPlan> remote;
  int remote_engine = -1;            ///< Its number there.
  std::vector<int> engine_ids = {};  ///< Of the engines that write it; empty: none, or not known.
};

/// The ids that engines got, as their log says it, each once in rising order.
std::vector<int> engine_ids_in(std::istream& log);

/// What a name in the log folder is the log of. Engines are counted over all that there are, until
/// name_by_ids() knows their ids.
/// names   those of one cluster, in any order.
/// remote  the hosts whose watchers live.
std::vector<LogSource> list_log_sources(const std::filesystem::path& folder,
                                        std::vector<std::string> names,
                                        const std::vector<SshHostPlan>& remote);

/// Calls the log of an engine here, which `ids_in` reads, by the ids of its engines: they register
/// in any order, and under MPI one log is that of all ranks. An engine that has no id yet is called
/// "engine without id".
void name_by_ids(std::vector<LogSource>& sources,
                 const std::function<std::vector<int>(const std::filesystem::path& file)>& ids_in);

/// What there is for the cluster of `paths`, read from its folders.
std::vector<LogSource> find_log_sources(const net::ProfilePaths& paths);

/// Those that the user means: all; or by engine id, label or a part of it.
std::vector<LogSource> choose_sources(std::vector<LogSource> sources, const std::string& wanted);

}  // namespace px::cluster
