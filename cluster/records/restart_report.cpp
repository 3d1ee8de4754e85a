#include "cluster/records/restart_report.hpp"

#include <csignal>

#include "os/private_file.hpp"
#include "wire/checked_json.hpp"
#include "wire/json.hpp"

namespace px::cluster {

int restart_signal() {
  return SIGRTMIN + 1;
}

int release_signal() {
  return SIGRTMIN + 2;
}

std::filesystem::path restart_report_file(const net::ProfilePaths& paths, int supervisor) {
  return paths.pid() / ("pxcluster-" + std::to_string(supervisor) + ".restarts");
}

std::string write_restart_report(const RestartReport& report) {
  return pack(Packer::json, {{"restarts", report.restarts},
                             {"engine_count", report.engine_count},
                             {"problem", report.problem}});
}

std::optional<RestartReport> read_restart_report(const net::ProfilePaths& paths, int supervisor) {
  const auto text = os::read_file(restart_report_file(paths, supervisor));
  if (!text) return std::nullopt;
  const auto report = unpack(Packer::json, *text);
  if (!report) return std::nullopt;
  const auto number = [&](const char* key) {
    return integer_member<int>(*report, key).value_or(0);
  };
  return RestartReport{number("restarts"), number("engine_count"),
                       string_member(*report, "problem").value_or("")};
}

}  // namespace px::cluster
