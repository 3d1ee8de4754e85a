#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/process/console.hpp"

namespace px::cluster {

/// The report of a process that watches engines on other hosts to the pxcluster that started it:
/// one line of JSON on the descriptor that $PX_REPORT names.
struct WatchReport {
  Level level = Level::info;
  std::string text;
  std::optional<int> engine_count;  ///< The number of its engines that are alive, or may still
                                    ///< start.
  bool is_waiting = false;          ///< It is in a queue: this may take long.
  bool operator==(const WatchReport&) const = default;
};

std::string write_watch_report(const WatchReport& report);
/// Nothing if the line is malformed.
std::optional<WatchReport> read_watch_report(std::string_view line);

/// An order of pxcluster to such a process: one line of JSON on the descriptor that $PX_ORDERS
/// names.
struct WatchOrder {
  std::vector<int> engines;  ///< The engines to restart, by their positions in the watcher's plan.
  std::string connection_info;  ///< The new text of their connection file.
  bool operator==(const WatchOrder&) const = default;
};

std::string write_watch_order(const WatchOrder& order);
/// Nothing if the line is malformed.
std::optional<WatchOrder> read_watch_order(std::string_view line);

/// Sends the reports of a watcher to the pxcluster that started it, and to its own log (standard
/// output).
class ReportSender {
 public:
  /// Takes the descriptor that $PX_REPORT names, if there is one.
  ReportSender();
  void send(const WatchReport& report);

 private:
  int descriptor_ = -1;
};

/// The variables that name the descriptors.
inline constexpr const char* report_variable = "PX_REPORT";
inline constexpr const char* order_variable = "PX_ORDERS";
/// The variable that contains a watcher's plan, as JSON.
inline constexpr const char* watch_plan_variable = "PX_WATCH";

}  // namespace px::cluster
