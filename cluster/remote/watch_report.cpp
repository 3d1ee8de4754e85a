#include "cluster/remote/watch_report.hpp"

#include <algorithm>

#include "wire/json.hpp"

namespace px::cluster {

std::string write_watch_report(const WatchReport& report) {
  Json line{{"level", static_cast<int>(report.level)}, {"text", report.text}};
  if (report.engine_count) line["engine_count"] = *report.engine_count;
  if (report.is_waiting) line["is_waiting"] = true;
  return pack(Packer::json, line) + "\n";
}

std::optional<WatchReport> read_watch_report(std::string_view line) {
  const auto object = unpack(Packer::json, line);
  if (!object) return std::nullopt;
  const auto level = int_member(*object, "level");
  const auto text = string_member(*object, "text");
  if (!level || !text || *level < 0 || *level > static_cast<int>(Level::error)) return std::nullopt;
  WatchReport report{.level = static_cast<Level>(*level), .text = *text, .engine_count = {}};
  if (const auto count = int_member(*object, "engine_count"))
    report.engine_count = static_cast<int>(std::clamp(*count, 0LL, 1'000'000LL));
  report.is_waiting = bool_member(*object, "is_waiting").value_or(false);
  return report;
}

}  // namespace px::cluster
