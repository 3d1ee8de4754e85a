#pragma once

#include "cluster/remote/watch_report.hpp"

namespace px::cluster {

/// What a watcher says goes to the pxcluster that started it, and to its own log (standard output).
class ReportSender {
 public:
  /// Takes the descriptor that $PX_REPORT names, where there is one.
  ReportSender();
  void send(const WatchReport& report);

 private:
  int descriptor_ = -1;
};

/// The variable that names the descriptor.
inline constexpr const char* report_variable = "PX_REPORT";
/// The variable that holds a watcher's plan, as JSON.
inline constexpr const char* watch_plan_variable = "PX_WATCH";

}  // namespace px::cluster
