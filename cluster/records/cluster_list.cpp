#include "cluster/records/cluster_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "wire/json.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

std::string profile_column(const net::ProfilePaths& paths,
                           const std::filesystem::path& ipython_dir) {
  return paths.root.parent_path() == ipython_dir ? paths.profile_name() : paths.root.string();
}

/// Of all sets of engines: "Slurm", or "Local, SSH".
std::string launcher_column(const ListedCluster& cluster) {
  const ClusterRecord& record = cluster.found.living;
  std::set<std::string> titles;
  for (const auto& [id, set] : record.engine_sets)
    titles.insert(launcher_title(set.started_by.empty() ? set.launcher : set.started_by));
  if (titles.empty() && !cluster.by_hand) return launcher_title(record.engine_launcher);
  std::string text = join(titles, ", ");
  if (cluster.by_hand) text += std::string(text.empty() ? "" : ", ") + "started by hand";
  return text;
}

std::string engines_column(const ListedCluster& cluster) {
  if (!cluster.by_hand) return std::to_string(cluster.found.living.engine_count());
  const std::optional<int> count = cluster.by_hand->engine_count;
  return count ? std::to_string(*count) : "?";
}

std::string owner_column(const ListedCluster& cluster) {
  if (const auto& by_hand = cluster.by_hand)
    return by_hand->process ? "none: runs as process " + std::to_string(by_hand->process->pid)
                            : "none: runs on " + by_hand->host;
  if (cluster.elsewhere) return *cluster.elsewhere;
  if (!cluster.owner) return "none: runs until stopped";
  return std::to_string(cluster.owner->pid) +
         (cluster.owner->command.empty() ? "" : " " + cluster.owner->command);
}

/// What the record says, with the controller that it does not know.
nlohmann::ordered_json record_json(const ListedCluster& cluster) {
  ClusterRecord record = cluster.found.living;
  if (!cluster.by_hand) return nlohmann::ordered_json::parse(write_cluster_record(record));
  const auto& [host, process, engine_count] = *cluster.by_hand;
  record.controller = process.value_or(RecordedProcess{.pid = -1, .output_file = ""});
  auto json = nlohmann::ordered_json::parse(write_cluster_record(record));
  json["by_hand"] = {{"pid", nullptr}, {"host", host}, {"engines", nullptr}};
  if (process) json["by_hand"]["pid"] = process->pid;
  if (engine_count) json["by_hand"]["engines"] = *engine_count;
  return json;
}

}  // namespace

std::string launcher_title(std::string_view launcher) {
  static const std::map<std::string_view, std::string_view> titles{
      {"local", "Local"},
      {"mpi", "MPI"},
      {"polyxeus", "Polyxeus"},
      {"polyxeus-local", "Polyxeus"},
      {"polyxeus-mpi", "PolyxeusMPI"},
      {"ssh", "SSH"},
      {"sshproxy", "SSHProxy"},
      {"slurm", "Slurm"},
      {"pbs", "PBS"},
      {"sge", "SGE"},
      {"lsf", "LSF"},
      {"htcondor", "HTCondor"},
      {"batch", "Batch"},
  };
  const auto title = titles.find(launcher);
  return std::string(title == titles.end() ? launcher : title->second);
}

std::optional<ClusterOwner> owner_of(const ClusterRecord& living,
                                     const std::function<std::string(int pid)>& command_of) {
  int pid = 0;
  if (living.controller) {
    pid = living.controller->owner;
  } else {
    for (const auto& [id, set] : living.engine_sets)
      for (const auto& [key, process] : set.processes) pid = std::max(pid, process.owner);
  }
  if (pid == 0) return std::nullopt;
  return ClusterOwner{pid, command_of(pid)};
}

std::string list_as_text(const std::vector<ListedCluster>& clusters,
                         const std::filesystem::path& ipython_dir, bool has_owners) {
  std::size_t width = 10;
  for (const ListedCluster& cluster : clusters)
    width = std::max(width, launcher_column(cluster).size());
  const auto last_columns = [&](const std::string& launcher, const std::string& owner) {
    return has_owners ? fmt::format("{:{}} {}", launcher, width, owner) : launcher;
  };
  std::string text = fmt::format("{:16} {:32} {:7} {:7} {}\n", "PROFILE", "CLUSTER ID", "RUNNING",
                                 "ENGINES", last_columns("LAUNCHER", "OWNER"));
  for (const ListedCluster& cluster : clusters) {
    const auto& [paths, record, living] = cluster.found;
    text += fmt::format("{:16} {:32} {:7} {:>7} {}\n", profile_column(paths, ipython_dir),
                        paths.cluster_id.empty() ? "''" : paths.cluster_id,
                        living.controller || cluster.by_hand ? "True" : "False",
                        engines_column(cluster),
                        last_columns(launcher_column(cluster), owner_column(cluster)));
  }
  return text;
}

std::string list_as_json(const std::vector<ListedCluster>& clusters) {
  auto list = nlohmann::ordered_json::array();
  for (const ListedCluster& each : clusters) {
    auto cluster = record_json(each);
    cluster["owner"] = nullptr;
    if (each.owner) cluster["owner"] = {{"pid", each.owner->pid}, {"command", each.owner->command}};
    list.push_back(std::move(cluster));
  }
  return list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace px::cluster
