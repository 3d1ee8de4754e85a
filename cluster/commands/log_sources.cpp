#include "cluster/commands/log_sources.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include "client/targets.hpp"
#include "cluster/launch/start_plan.hpp"
#include "os/private_file.hpp"

namespace px::cluster {
namespace {

/// "ipengine--1700-2.log" before "ipengine--1700-10.log".
bool is_before(const std::string& a, const std::string& b) {
  return a.size() != b.size() && a.substr(0, 10) == b.substr(0, 10) ? a.size() < b.size() : a < b;
}

/// The log of a watcher, whose engines have logs of their own.
bool is_watchers(const std::string& name, const std::vector<SshHostPlan>& remote) {
  return std::any_of(remote.begin(), remote.end(), [&](const SshHostPlan& plan) {
    return name == std::filesystem::path(plan.log_stem).filename().string() + ".log";
  });
}

std::vector<SshHostPlan> read_notes(const net::ProfilePaths& paths) {
  std::vector<SshHostPlan> plans;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(paths.pid(), error)) {
    if (!entry.path().filename().string().starts_with("watch-")) continue;
    const auto text = os::read_file(entry.path());
    const auto json = text ? unpack(Packer::json, *text) : Result<Json>(text.error());
    auto plan = json ? read_ssh_host_plan(*json) : Result<SshHostPlan>(json.error());
    const std::string own = "ipengine-" + paths.cluster_id + "-";
    if (plan && std::filesystem::path(plan->log_stem).filename().string().starts_with(own))
      plans.push_back(std::move(*plan));
  }
  std::sort(plans.begin(), plans.end(),
            [](const auto& a, const auto& b) { return is_before(a.log_stem, b.log_stem); });
  return plans;
}

}  // namespace

std::vector<LogSource> list_log_sources(const std::filesystem::path& folder,
                                        std::vector<std::string> names,
                                        const std::vector<SshHostPlan>& remote) {
  std::sort(names.begin(), names.end(), is_before);
  std::vector<LogSource> sources, engines;
  for (const std::string& name : names) {
    LogSource source{.label = name, .file = folder / name, .remote = {}, .remote_engine = -1};
    if (name.starts_with("ipcontroller")) {
      source.label = "controller";
      sources.push_back(std::move(source));
    } else if (name.starts_with("ipengine") && is_watchers(name, remote)) {
      source.label = "watcher";
      sources.push_back(std::move(source));
    } else if (name.starts_with("ipengine")) {
      engines.push_back(std::move(source));
    } else {
      source.label = "pxcluster";
      sources.push_back(std::move(source));
    }
  }
  for (const SshHostPlan& plan : remote)
    for (std::size_t k = 0; k < plan.engines.size(); ++k)
      engines.push_back(
          {.label = plan.host, .file = {}, .remote = plan, .remote_engine = static_cast<int>(k)});
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const std::string host = engines[i].remote ? " (" + engines[i].label + ")" : "";
    engines[i].label = "engine " + std::to_string(i) + host;
    sources.push_back(std::move(engines[i]));
  }
  return sources;
}

std::vector<int> engine_ids_in(std::istream& log) {
  constexpr std::string_view mark = "Completed registration with id ";
  std::set<int> ids;
  for (std::string line; std::getline(log, line);) {
    const std::size_t at = line.find(mark);
    if (at == std::string::npos) continue;
    int id = 0;
    const char* const begin = line.data() + at + mark.size();
    if (std::from_chars(begin, line.data() + line.size(), id).ec == std::errc{}) ids.insert(id);
  }
  return {ids.begin(), ids.end()};
}

void name_by_ids(std::vector<LogSource>& sources,
                 const std::function<std::vector<int>(const std::filesystem::path& file)>& ids_in) {
  for (LogSource& source : sources) {
    if (source.remote || !source.label.starts_with("engine ")) continue;
    source.engine_ids = ids_in(source.file);
    std::vector<EngineId> engines;
    for (const int id : source.engine_ids) engines.push_back(EngineId{id});
    source.label = engines.empty()       ? "engine without id"
                   : engines.size() == 1 ? "engine " + std::to_string(engines.front().value)
                                         : "engines " + client::name_engines(engines);
  }
}

std::vector<LogSource> find_log_sources(const net::ProfilePaths& paths) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(paths.log(), error)) {
    const std::string name = entry.path().filename().string();
    if (is_log_of_cluster(name, paths.cluster_id)) names.push_back(name);
  }
  auto sources = list_log_sources(paths.log(), std::move(names), read_notes(paths));
  name_by_ids(sources, [](const std::filesystem::path& file) {
    std::ifstream log{file, std::ios::binary};
    return engine_ids_in(log);
  });
  return sources;
}

std::vector<LogSource> choose_sources(std::vector<LogSource> sources, const std::string& wanted) {
  if (wanted.empty()) return sources;
  const auto is_wanted = [&](const LogSource& source) {
    if (std::any_of(source.engine_ids.begin(), source.engine_ids.end(),
                    [&](int id) { return std::to_string(id) == wanted; }))
      return true;
    const std::string numbered = "engine " + wanted;
    if (source.label == wanted || source.label == numbered ||
        source.label.starts_with(numbered + " "))
      return true;
    const bool is_number = std::all_of(wanted.begin(), wanted.end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0; });
    return !is_number && source.label.find(wanted) != std::string::npos;
  };
  std::erase_if(sources, [&](const LogSource& source) { return !is_wanted(source); });
  return sources;
}

}  // namespace px::cluster
