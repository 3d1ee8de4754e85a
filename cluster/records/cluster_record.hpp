#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px::cluster {

/// A process that a cluster file names.
struct RecordedProcess {
  int pid = 0;
  std::string output_file;
  int engine_count = 0;    ///< 0 for a controller.
  int supervisor = 0;      ///< The pxcluster that has started it; 0: none.
  int owner = 0;           ///< The process with which it ends; 0: it runs until it is stopped.
  std::string birth = {};  ///< os::Processes::birth_of(); empty in older files.
  std::string host = {};   ///< The name of its host; empty in older files.
  std::string supervisor_birth = {};  ///< Like `birth`, of the supervisor.
  /// The supervisor itself; its pid is 0 if there is none.
  RecordedProcess supervising_process() const;
  bool operator==(const RecordedProcess&) const = default;
};

/// Engines that were started together.
struct RecordedEngineSet {
  std::string launcher;                              ///< "local", "mpi", ...
  std::map<std::string, RecordedProcess> processes;  ///< Keys "0", "1", ...
  /// The user's name for the launcher, "slurm" or "ssh", if `launcher` is another one, with which
  /// ipcluster can stop the set; otherwise empty.
  std::string started_by = {};

  int engine_count() const;
  bool operator==(const RecordedEngineSet&) const = default;
};

/// The content of cluster-<id>.json about a running cluster (protocol 2.6). A value.
struct ClusterRecord {
  std::string cluster_id;
  std::string profile_dir;
  std::vector<std::string> controller_args;
  std::string controller_ip;
  std::string controller_location;
  double delay = 0;
  std::optional<int> n;
  std::string controller_launcher = "local";
  std::string engine_launcher = "local";
  std::optional<RecordedProcess> controller;
  std::map<std::string, RecordedEngineSet> engine_sets;  ///< By engine set id.

  int engine_count() const;
  bool is_empty() const { return !controller && engine_sets.empty(); }
  /// The engines' processes, set by set.
  std::vector<int> engine_pids() const;
  bool operator==(const ClusterRecord&) const = default;
};

/// The file's text, in the form that ipyparallel's Cluster writes and reads.
/// A file has one launcher for all sets: if they differ, the sets of mpi are written as local ones
/// of one process.
std::string write_cluster_record(const ClusterRecord& record);

/// errors  bad_input: not JSON, or not of that form.
Result<ClusterRecord> read_cluster_record(std::string_view text);

/// A host, as identified in records.
struct HostIdentity {
  std::string name;
  std::string boot;  ///< os::boot_id()
  static HostIdentity here();
};

/// Whether the process runs, or ran, on a host whose processes are not visible on `here`. A host
/// that was rebooted under the same name counts as the same one.
bool is_elsewhere(const RecordedProcess& process, const HostIdentity& here);

/// The hosts, not visible from `here`, on which parts of the cluster run: "node2, node3".
std::string other_hosts(const ClusterRecord& record, const HostIdentity& here);

/// The part of it for which `is_alive` is true.
ClusterRecord living_part(const ClusterRecord& record,
                          const std::function<bool(const RecordedProcess&)>& is_alive);

/// `record` with the controller (if `own` has one) and engine sets of `own` replacing its own: two
/// programs may each have started a part of one cluster.
ClusterRecord merge_records(ClusterRecord record, const ClusterRecord& own);

}  // namespace px::cluster
