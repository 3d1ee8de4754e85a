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

std::filesystem::path restart_order_file(const net::ProfilePaths& paths, int supervisor) {
  return paths.pid() / ("pxcluster-" + std::to_string(supervisor) + ".restart");
}

Result<void> write_restart_order(const net::ProfilePaths& paths, int supervisor,
                                 const std::vector<PlacedEngine>& engines) {
  const auto path = restart_order_file(paths, supervisor);
  std::error_code error;
  std::filesystem::remove(path, error);
  if (engines.empty()) return {};
  Json ids = Json::object();
  for (const PlacedEngine& engine : engines)
    ids[engine.set + "/" + std::to_string(engine.number.value_or(-1))] = engine.id.value;
  return os::write_file_atomically(path, pack(Packer::json, ids), 0600);
}

std::vector<PlacedEngine> take_restart_order(const net::ProfilePaths& paths, int supervisor) {
  const auto path = restart_order_file(paths, supervisor);
  const auto text = os::read_file(path);
  std::error_code error;
  std::filesystem::remove(path, error);
  const auto order = unpack(Packer::json, text ? *text : "{}");
  std::vector<PlacedEngine> engines;
  if (!order) return engines;
  for (const auto& [place, id] : order->items())
    engines.push_back(read_placed_engine(EngineId{read_integer<int>(id).value_or(-1)}, place));
  return engines;
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
