#include "cluster/records/cluster_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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

std::string list_as_text(const std::vector<FoundCluster>& clusters,
                         const std::filesystem::path& ipython_dir) {
  std::string text = fmt::format("{:16} {:32} {:7} {:7} {}\n", "PROFILE", "CLUSTER ID", "RUNNING",
                                 "ENGINES", "LAUNCHER");
  for (const FoundCluster& cluster : clusters) {
    const std::string& id = cluster.paths.cluster_id;
    text += fmt::format("{:16} {:32} {:7} {:7} {}\n", profile_column(cluster.paths, ipython_dir),
                        id.empty() ? "''" : id, cluster.living.controller ? "True" : "False",
                        cluster.living.engine_count(), launcher_column(cluster.living));
  }
  return text;
}

std::string list_as_json(const std::vector<FoundCluster>& clusters) {
  std::string text = "[";
  for (const FoundCluster& cluster : clusters)
    text += (text.size() > 1 ? ", " : "") + write_cluster_record(cluster.living);
  return text + "]\n";
}

}  // namespace px::cluster
