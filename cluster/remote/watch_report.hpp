#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace px::cluster
