#include "cluster/records/cluster_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "wire/json.hpp"

namespace px::cluster {
namespace {

std::string profile_column(const net::ProfilePaths& paths,
                           const std::filesystem::path& ipython_dir) {
  return paths.root.parent_path() == ipython_dir ? paths.profile_name() : paths.root.string();
}

/// Of all sets of engines: "Slurm", or "Local, SSH".
std::string launcher_column(const ClusterRecord& record) {
  std::set<std::string> titles;
  for (const auto& [id, set] : record.engine_sets)
    titles.insert(launcher_title(set.started_by.empty() ? set.launcher : set.started_by));
  if (titles.empty()) return launcher_title(record.engine_launcher);
  std::string text;
  for (const std::string& title : titles) text += (text.empty() ? "" : ", ") + title;
  return text;
}

std::string owner_column(const std::optional<ClusterOwner>& owner) {
  if (!owner) return "nobody: runs until stopped";
  return std::to_string(owner->pid) + (owner->command.empty() ? "" : " " + owner->command);
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
  const auto last_columns = [&](const std::string& launcher, const std::string& owner) {
    return has_owners ? fmt::format("{:10} {}", launcher, owner) : launcher;
  };
  std::string text = fmt::format("{:16} {:32} {:7} {:7} {}\n", "PROFILE", "CLUSTER ID", "RUNNING",
                                 "ENGINES", last_columns("LAUNCHER", "OWNER"));
  for (const auto& [found, owner] : clusters) {
    const std::string& id = found.paths.cluster_id;
    text += fmt::format("{:16} {:32} {:7} {:7} {}\n", profile_column(found.paths, ipython_dir),
                        id.empty() ? "''" : id, found.living.controller ? "True" : "False",
                        found.living.engine_count(),
                        last_columns(launcher_column(found.living), owner_column(owner)));
  }
  return text;
}

std::string list_as_json(const std::vector<ListedCluster>& clusters) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [found, owner] : clusters) {
    auto cluster = nlohmann::ordered_json::parse(write_cluster_record(found.living));
    cluster["owner"] = nullptr;
    if (owner) cluster["owner"] = {{"pid", owner->pid}, {"command", owner->command}};
    list.push_back(std::move(cluster));
  }
  return list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace px::cluster
