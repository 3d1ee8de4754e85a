#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/process/console.hpp"

namespace px::cluster {

/// What a process that watches over engines elsewhere tells the pxcluster that started it: one line
/// of JSON on the descriptor that $PX_REPORT names.
struct WatchReport {
  Level level = Level::info;
  std::string text;
  std::optional<int> engine_count;  ///< So many of its engines live, or may yet come.
  bool is_waiting = false;          ///< In a queue: patience is in place.
  bool operator==(const WatchReport&) const = default;
};

std::string write_watch_report(const WatchReport& report);
/// Nothing where the line is none.
std::optional<WatchReport> read_watch_report(std::string_view line);

/// What the pxcluster tells such a process: one line of JSON on the descriptor that $PX_ORDERS
/// names.
struct WatchOrder {
  std::vector<int> engines;  ///< To end and to start again, by their places in the watcher's plan.
  std::string connection_info;  ///< The new text of their connection file.
  bool operator==(const WatchOrder&) const = default;
};

std::string write_watch_order(const WatchOrder& order);
/// Nothing where the line is none.
std::optional<WatchOrder> read_watch_order(std::string_view line);

/// What a watcher says goes to the pxcluster that started it, and to its own log (standard output).
class ReportSender {
 public:
  /// Takes the descriptor that $PX_REPORT names, where there is one.
  ReportSender();
  void send(const WatchReport& report);

 private:
  int descriptor_ = -1;
};

/// The variables that name the descriptors.
inline constexpr const char* report_variable = "PX_REPORT";
inline constexpr const char* order_variable = "PX_ORDERS";
/// The variable that holds a watcher's plan, as JSON.
inline constexpr const char* watch_plan_variable = "PX_WATCH";

}  // namespace px::cluster
