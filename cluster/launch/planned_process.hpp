#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/rank_plan.hpp"
#include "wire/time.hpp"

namespace px::cluster {

/// A process to start: without a terminal, in a separate session, its output in a file.
struct Command {
  std::vector<std::string> argv;                   ///< argv[0] is a path, or a name in $PATH.
  std::map<std::string, std::string> environment;  ///< In addition to the environment of this
                                                   ///< process.
  std::filesystem::path log_file;                  ///< stdout and stderr are appended to it.
  bool has_reports = false;  ///< It reports to its parent on the descriptor in $PX_REPORT.
  /// It restarts some of its engines when its parent orders it on the descriptor in $PX_ORDERS.
  bool takes_orders = false;
  bool operator==(const Command&) const = default;
};

/// One process of a plan.
struct PlannedProcess {
  Command command;
  int engine_count = 0;       ///< The number of its engines; 0 for a controller.
  bool has_children = false;  ///< The engines are its children: end them after it has ended.
};

/// Plan for the start of engines.
struct EnginePlan {
  std::vector<PlannedProcess> processes;
  std::vector<std::string> notes;    ///< Notes for the user, a sentence each.
  std::optional<Duration> patience;  ///< How long a stop may take; nothing: the default.
  int count_here = 0;                ///< The number of engines on this host; 0: unknown.
  RankPlan ranks = {};               ///< Tells each engine its place among them.
};

}  // namespace px::cluster
