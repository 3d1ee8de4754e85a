#pragma once

#include <compare>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "os/process_end.hpp"

namespace px::cluster {

/// A process to start: without a terminal, in a session of its own, its output in a file.
struct Command {
  std::vector<std::string> argv;                   ///< argv[0] is a path, or a name in $PATH.
  std::map<std::string, std::string> environment;  ///< Beyond the environment of this process.
  std::filesystem::path log_file;                  ///< stdout and stderr are appended to it.
  bool has_reports = false;  ///< It tells its parent things by the descriptor in $PX_REPORT.
  bool operator==(const Command&) const = default;
};

/// Names a process of one cluster, whether it runs or not.
struct ProcessKey {
  int value = 0;  ///< -1 the controller, from 0 on the processes of the engine set.
  auto operator<=>(const ProcessKey&) const = default;
};
inline constexpr ProcessKey controller_process{-1};

}  // namespace px::cluster
