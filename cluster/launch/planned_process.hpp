#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/rank_plan.hpp"
#include "wire/time.hpp"

namespace px::cluster {

/// A process to start: without a terminal, in a session of its own, its output in a file.
struct Command {
  std::vector<std::string> argv;                   ///< argv[0] is a path, or a name in $PATH.
  std::map<std::string, std::string> environment;  ///< Beyond the environment of this process.
  std::filesystem::path log_file;                  ///< stdout and stderr are appended to it.
  bool has_reports = false;  ///< It tells its parent things by the descriptor in $PX_REPORT.
  /// It restarts some of its engines when its parent says so by the descriptor in $PX_ORDERS.
  bool takes_orders = false;
  bool operator==(const Command&) const = default;
};

/// One process of a plan.
struct PlannedProcess {
  Command command;
  int engine_count = 0;       ///< How many engines come out of it; 0 for a controller.
  bool has_children = false;  ///< The engines are children of it: when it is gone, look after them.
};

/// Engines as they are to be started.
struct EnginePlan {
  std::vector<PlannedProcess> processes;
  std::vector<std::string> notes;    ///< What the user should know about it, a sentence each.
  std::optional<Duration> patience;  ///< How long a stop may take; nothing: the usual.
  int count_here = 0;                ///< Of the engines those on this host; 0: not known.
  RankPlan ranks = {};               ///< What each engine is to know of its place among them.
};

}  // namespace px::cluster
