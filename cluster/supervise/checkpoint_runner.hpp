#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/process/console.hpp"
#include "os/child_process.hpp"

namespace px::cluster {

/// The signal that makes a checkpoint, and the command.
struct CheckpointPlan {
  int signal = 0;                       ///< 0: no signal.
  std::vector<std::string> argv = {};   ///< `pxcluster checkpoint create ...`
  std::filesystem::path log_file = {};  ///< For its output.
};

/// Runs `pxcluster checkpoint create` as a child, one at a time, and reports the result. Only the
/// main thread uses it.
class CheckpointRunner {
 public:
  CheckpointRunner(CheckpointPlan plan, Console& console)
      : plan_(std::move(plan)), console_(console) {}

  bool is_meant_by(int signal) const { return plan_.signal != 0 && plan_.signal == signal; }
  /// Reports it, and does nothing else, if a checkpoint is already being written.
  void start();
  /// Call it when a child has ended.
  void reap();

 private:
  CheckpointPlan plan_;
  Console& console_;
  std::optional<os::ChildProcess> child_;
};

}  // namespace px::cluster
