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

/// A cluster file as found.
struct FoundCluster {
  net::ProfilePaths paths;
  ClusterRecord record;  ///< The whole content of the file.
  ClusterRecord living;  ///< The part that still runs.
};

/// Whether the process with this pid is the recorded one, as far as the record tells; false if none
/// runs.
bool is_same_process(const RecordedProcess& process, os::Processes& processes);

/// Reads the cluster file of `paths`. A process that started after the file was last written has
/// the pid of a recorded one only by chance: the recorded one counts as dead.
/// errors  not_found: no such file; bad_input: it is not a cluster file.
Result<FoundCluster> load_cluster(const net::ProfilePaths& paths, os::Processes& processes);

/// A noun phrase for people if the cluster runs in a container or on a host whose processes are not
/// visible here. Nothing: it runs here, or not at all.
/// found  the result of load_cluster() for the same paths
std::optional<std::string> runs_elsewhere(const net::ProfilePaths& paths,
                                          const Result<FoundCluster>& found);

/// The cluster ids that have a file in the profile, sorted.
std::vector<std::string> recorded_cluster_ids(const net::ProfilePaths& profile);

/// The cluster ids that have a clients' connection file in the profile, sorted.
std::vector<std::string> announced_cluster_ids(const net::ProfilePaths& profile);

/// Merges `own` into the file's entries of other parts that run, or may run on hosts that are not
/// visible here; if `own` is empty, removes the entries of `own_set_id`, and the file if nothing
/// else runs.
Result<void> save_cluster(const net::ProfilePaths& paths, const ClusterRecord& own,
                          const std::string& own_set_id, bool owns_controller,
                          os::Processes& processes);

/// The file in which the watcher of the engines' batch job writes when that job ends, while it
/// runs.
std::filesystem::path job_end_file(const net::ProfilePaths& paths,
                                   const std::string& engine_set_id);

/// When the batch jobs of the running engines of a cluster end, as far as their watchers have
/// written it: "slurm job 17 ends at 2026-11-28 18:30:00".
std::vector<std::string> read_job_ends(const FoundCluster& found);

/// Removes the files that a dead cluster left: its cluster file and both connection files. Removes
/// none if a controller of that name runs.
/// Returns the removed ones.
std::vector<std::filesystem::path> remove_left_files(const net::ProfilePaths& paths);

/// The profiles below the folder of all profiles, sorted.
std::vector<net::ProfilePaths> all_profiles(const std::filesystem::path& ipython_dir);

}  // namespace px::cluster
