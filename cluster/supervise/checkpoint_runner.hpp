#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/process/console.hpp"
#include "os/child_process.hpp"
#include "wire/ids.hpp"

namespace px::cluster {

/// The signal that makes a checkpoint, and the commands. Empty: such a command does not run.
struct CheckpointPlan {
  int signal = 0;                       ///< 0: no signal.
  std::vector<std::string> argv = {};   ///< `pxcluster checkpoint create ...`
  std::filesystem::path log_file = {};  ///< For its output.
  /// `pxcluster checkpoint restore --same-engines ...`, without the path and the engines.
  std::vector<std::string> restore_argv = {};
  /// `python -m polyxeus.client.walltime ...`: runs as long as the cluster.
  std::vector<std::string> walltime_argv = {};
  std::filesystem::path walltime_log_file = {};
};

/// Runs `pxcluster checkpoint create` and `restore` as children, one of each at a time, and the
/// program that continues in a new job before the job of the engines ends. Reports the results.
/// Only the main thread uses it.
class CheckpointRunner {
 public:
  CheckpointRunner(CheckpointPlan plan, Console& console)
      : plan_(std::move(plan)), console_(console) {}

  bool is_meant_by(int signal) const { return plan_.signal != 0 && plan_.signal == signal; }
  /// Reports it, and does nothing else, if a checkpoint is already being written.
  void start();
  /// Starts the program that watches for the end of the job, if there is one. Call it when the
  /// engines have registered.
  void watch_walltime();
  /// The path of the last checkpoint of the cluster; empty: there is none.
  void note_last(const std::string& path) { last_ = path; }
  /// Defines the variables of the last checkpoint, if there is one, on these engines: at once, or
  /// when the previous restore has ended.
  void restore(const std::vector<EngineId>& engines);
  /// Call it when a child has ended.
  void reap();

 private:
  std::optional<os::ChildProcess> spawn(const std::vector<std::string>& argv,
                                        const std::filesystem::path& log_file,
                                        const std::string& what);
  void reap_restore();
  void reap_walltime();
  CheckpointPlan plan_;
  Console& console_;
  std::optional<os::ChildProcess> child_, restore_child_, walltime_child_;
  std::string last_;
  std::vector<EngineId> waiting_;  // for their variables
};

}  // namespace px::cluster
