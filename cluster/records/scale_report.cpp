#include "cluster/records/scale_report.hpp"

#include <algorithm>
#include <csignal>

#include "cluster/records/record_file.hpp"
#include "os/host.hpp"
#include "os/private_file.hpp"
#include "wire/checked_json.hpp"
#include "wire/counted.hpp"
#include "wire/text.hpp"
#include "wire/time.hpp"

namespace px::cluster {
namespace {

constexpr std::string_view report_begin = "pxcluster-", report_end = ".scale";

Json as_json(const ScaleOrder& order) {
  return {{"minimum", order.least}, {"maximum", order.most}, {"idle_seconds", order.idle_s}};
}

std::optional<ScaleOrder> read_order(const Json& object) {
  const auto least = integer_member<int>(object, "minimum");
  const auto most = integer_member<int>(object, "maximum");
  if (bool_member(object, "is_off").value_or(false)) return ScaleOrder{.is_off = true};
  if (!least || !most) return std::nullopt;
  ScaleOrder order{*least, *most};
  if (const auto idle = object.find("idle_seconds"); idle != object.end() && idle->is_number())
    order.idle_s = idle->get<double>();
  return order;
}

std::string seconds_text(double seconds) {
  return format_duration(duration_of(seconds));
}

/// Some may have ended without removing theirs.
bool runs_still(int supervisor, const ScaleReport& report, os::Processes& processes) {
  RecordedProcess process;
  process.pid = supervisor;
  process.birth = report.birth;
  return is_same_process(process, processes);
}

}  // namespace

int scale_signal() {
  return SIGRTMIN + 3;
}

std::filesystem::path scale_report_file(const net::ProfilePaths& paths, int supervisor) {
  return paths.pid() /
         (std::string(report_begin) + std::to_string(supervisor) + std::string(report_end));
}

std::filesystem::path scale_order_file(const net::ProfilePaths& paths, int supervisor) {
  return paths.pid() / ("pxcluster-" + std::to_string(supervisor) + ".scale-order");
}

Result<void> write_scale_order(const net::ProfilePaths& paths, int supervisor,
                               const ScaleOrder& order) {
  Json json = as_json(order);
  json["is_off"] = order.is_off;
  return os::write_file_atomically(scale_order_file(paths, supervisor), pack(Packer::json, json),
                                   0600);
}

std::optional<ScaleOrder> take_scale_order(const net::ProfilePaths& paths, int supervisor) {
  const auto path = scale_order_file(paths, supervisor);
  const auto text = os::read_file(path);
  std::error_code error;
  std::filesystem::remove(path, error);
  const auto json = unpack(Packer::json, text ? *text : "");
  if (!json || !json->is_object()) return std::nullopt;
  return read_order(*json);
}

Json write_scale_report(const ScaleReport& report) {
  Json respawned = Json::array();
  for (const RespawnedEngine& engine : report.respawned)
    respawned.push_back({{"engine", engine.id < 0 ? Json() : Json(engine.id)},
                         {"count", engine.count},
                         {"why", engine.why}});
  return {{"cluster_id", report.cluster_id},
          {"engine_set", report.engine_set},
          {"birth", report.birth},
          {"host", report.host},
          {"owns_controller", report.owns_controller},
          {"engines", report.engines},
          {"scale", report.scale ? as_json(*report.scale) : Json()},
          {"orders", report.orders},
          {"problem", report.problem},
          {"respawn_limit", report.respawn_limit},
          {"respawned", std::move(respawned)},
          {"waiting", report.waiting}};
}

std::optional<ScaleReport> read_scale_report(std::string_view text) {
  const auto json = unpack(Packer::json, text);
  if (!json || !json->is_object()) return std::nullopt;
  const auto number = [](const Json& object, const char* key) {
    return integer_member<int>(object, key).value_or(0);
  };
  const auto words = [](const Json& object, const char* key) {
    return string_member(object, key).value_or("");
  };
  ScaleReport report;
  report.cluster_id = words(*json, "cluster_id");
  report.engine_set = words(*json, "engine_set");
  report.birth = words(*json, "birth");
  report.host = words(*json, "host");
  report.owns_controller = bool_member(*json, "owns_controller").value_or(true);
  report.engines = number(*json, "engines");
  report.scale = read_order(object_member(*json, "scale"));
  report.orders = number(*json, "orders");
  report.problem = words(*json, "problem");
  report.respawn_limit = number(*json, "respawn_limit");
  for (const Json& engine : json_member(*json, "respawned"))
    report.respawned.push_back({integer_member<int>(engine, "engine").value_or(-1),
                                number(engine, "count"), words(engine, "why")});
  report.waiting = number(*json, "waiting");
  return report;
}

namespace {

/// Of this cluster, also those that were left.
std::vector<std::pair<int, ScaleReport>> all_reports(const net::ProfilePaths& paths) {
  std::vector<std::pair<int, ScaleReport>> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(paths.pid(), error)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(report_begin) || !name.ends_with(report_end)) continue;
    name = name.substr(report_begin.size(), name.size() - report_begin.size() - report_end.size());
    const auto pid = read_whole_number(name);
    const auto text = os::read_file(entry.path());
    if (!pid || !text) continue;
    auto report = read_scale_report(*text);
    if (report && report->cluster_id == paths.cluster_id)
      found.emplace_back(*pid, std::move(*report));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

}  // namespace

std::vector<std::pair<int, ScaleReport>> scale_reports(const net::ProfilePaths& paths,
                                                       os::Processes& processes) {
  auto reports = all_reports(paths);
  std::erase_if(reports,
                [&](const auto& each) { return !runs_still(each.first, each.second, processes); });
  return reports;
}

void remove_left_scale_reports(const net::ProfilePaths& paths, os::Processes& processes) {
  for (const auto& [pid, report] : all_reports(paths)) {
    if (report.host != os::host_name() || runs_still(pid, report, processes)) continue;
    std::error_code error;
    std::filesystem::remove(scale_report_file(paths, pid), error);
  }
}

std::string scale_as_text(const ScaleReport& report) {
  std::string text;
  if (report.scale)
    text =
        (report.scale->least == report.scale->most ? counted(report.scale->most, "engine")
                                                   : std::to_string(report.scale->least) + " to " +
                                                         counted(report.scale->most, "engine")) +
        ", now " + std::to_string(report.engines) + "; an engine without work for " +
        seconds_text(report.scale->idle_s) + " ends\n";
  else
    text = counted(report.engines, "engine") +
           "; the number is fixed: `pxcluster scale MIN MAX` makes it follow the work\n";
  if (report.respawn_limit > 0)
    text += "engines that die are started again, at most " + std::to_string(report.respawn_limit) +
            " within a minute\n";
  for (const RespawnedEngine& engine : report.respawned)
    text += (engine.id < 0 ? std::string("an engine") : "engine " + std::to_string(engine.id)) +
            " was started again " + (engine.count == 1 ? "once" : counted(engine.count, "time")) +
            "; the last time it " + engine.why + "\n";
  if (report.waiting > 0)
    text += counted(report.waiting, "dead engine") + (report.waiting == 1 ? " waits" : " wait") +
            " because of the limit\n";
  return text;
}

}  // namespace px::cluster
