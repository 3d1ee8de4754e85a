#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/records/cluster_record.hpp"
#include "net/discovery/profile_paths.hpp"
#include "os/processes.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// A cluster file as it was found.
struct FoundCluster {
  net::ProfilePaths paths;
  ClusterRecord record;  ///< All that the file says.
  ClusterRecord living;  ///< What of it still runs.
};

/// Whether the process of this pid is the recorded one, as far as the record says; false where none
/// runs.
bool is_same_process(const RecordedProcess& process, os::Processes& processes);

/// Reads the cluster file of `paths`. A process that started after the file was last written only
/// happens to have the pid of one of ours: it counts as dead.
/// errors  not_found: no such file; bad_input: it is not a cluster file.
Result<FoundCluster> load_cluster(const net::ProfilePaths& paths, os::Processes& processes);

/// Who runs the cluster in a container or on a host whose processes cannot be seen from here: a
/// noun phrase for people. Nothing: it runs here, or not at all. found  what load_cluster() says of
/// the same paths
std::optional<std::string> runs_elsewhere(const net::ProfilePaths& paths,
                                          const Result<FoundCluster>& found);

/// The cluster ids that have a file in the profile, sorted.
std::vector<std::string> recorded_cluster_ids(const net::ProfilePaths& profile);

/// The cluster ids that have a clients' connection file in the profile, sorted.
std::vector<std::string> announced_cluster_ids(const net::ProfilePaths& profile);

/// Lays `own` over what the file says of others that live, or may live on hosts that cannot be seen
/// from here; removes what `own_set_id` had there if
/// `own` is empty, and the file with it if nothing else lives.
Result<void> save_cluster(const net::ProfilePaths& paths, const ClusterRecord& own,
                          const std::string& own_set_id, bool owns_controller,
                          os::Processes& processes);

/// Removes the files that a dead cluster left: its cluster file and both connection files. Removes
/// nothing where a controller of that name runs.
/// Returns those that were there.
std::vector<std::filesystem::path> remove_left_files(const net::ProfilePaths& paths);

/// The profiles below the folder of all profiles, sorted.
std::vector<net::ProfilePaths> all_profiles(const std::filesystem::path& ipython_dir);

}  // namespace px::cluster
