#include "cluster/remote/watch_report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

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
