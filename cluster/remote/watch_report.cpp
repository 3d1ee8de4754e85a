#include "cluster/remote/watch_report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "wire/checked_json.hpp"
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

std::string write_watch_order(const WatchOrder& order) {
  return pack(Packer::json,
              {{"engines", order.engines}, {"connection_info", order.connection_info}}) +
         "\n";
}

std::optional<WatchOrder> read_watch_order(std::string_view line) {
  const auto object = unpack(Packer::json, line);
  const auto info = object ? string_member(*object, "connection_info") : std::nullopt;
  if (!info) return std::nullopt;
  WatchOrder order{{}, *info};
  for (const Json& engine : json_member(*object, "engines"))
    if (const auto number = read_integer<int>(engine)) order.engines.push_back(*number);
  return order;
}

ReportSender::ReportSender() {
  const char* const text = std::getenv(report_variable);
  if (!text) return;
  descriptor_ = std::atoi(text);
  ::unsetenv(report_variable);
  // neither a child of ours nor a full pipe may hold anything up
  if (descriptor_ <= STDERR_FILENO || ::fcntl(descriptor_, F_SETFD, FD_CLOEXEC) != 0 ||
      ::fcntl(descriptor_, F_SETFL, O_NONBLOCK) != 0)
    descriptor_ = -1;
}

void ReportSender::send(const WatchReport& report) {
  if (!report.text.empty()) std::cout << report.text << std::endl;
  if (descriptor_ < 0) return;
  const std::string line = write_watch_report(report);
  [[maybe_unused]] const auto written = ::write(descriptor_, line.data(), line.size());
}

}  // namespace px::cluster
