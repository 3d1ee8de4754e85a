#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/process/console.hpp"
#include "os/child_process.hpp"

namespace px::cluster {

/// When a signal is to make a checkpoint, and how.
struct CheckpointPlan {
  int signal = 0;                       ///< 0: no signal does.
  std::vector<std::string> argv = {};   ///< `pxcluster checkpoint create ...`
  std::filesystem::path log_file = {};  ///< For what it prints.
};

/// Runs `pxcluster checkpoint create` as a child, one at a time, and says what came of it. One
/// thread uses it: the main thread.
class CheckpointRunner {
 public:
  CheckpointRunner(CheckpointPlan plan, Console& console)
      : plan_(std::move(plan)), console_(console) {}

  bool is_meant_by(int signal) const { return plan_.signal != 0 && plan_.signal == signal; }
  /// Says so, and does nothing, where one is being written.
  void start();
  /// To be called when a child has ended.
  void reap();

 private:
  CheckpointPlan plan_;
  Console& console_;
  std::optional<os::ChildProcess> child_;
};

}  // namespace px::cluster
