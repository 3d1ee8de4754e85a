#include "cluster/records/record_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>

#include "os/descriptor.hpp"
#include "os/file_lock.hpp"
#include "os/host.hpp"
#include "os/private_file.hpp"
#include "os/retried.hpp"

namespace px::cluster {
namespace {

/// Of process start times, which the system gives in hundredths, from a boot time in seconds.
constexpr auto tolerance = std::chrono::seconds(3);

std::optional<WallTime> modified_at(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return WallTime{std::chrono::seconds(status.st_mtim.tv_sec) +
                  std::chrono::microseconds(status.st_mtim.tv_nsec / 1000)};
}

template <class Make>
auto sorted_names(const std::filesystem::path& folder, Make make) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (auto name = make(entry)) names.push_back(*name);
  std::sort(names.begin(), names.end());
  return names;
}

void note_births(ClusterRecord& record, os::Processes& processes) {
  const auto note = [&](RecordedProcess& process) {
    if (!process.birth.empty()) return;
    process.birth = processes.birth_of(process.pid);
    process.host = os::host_name();
    process.supervisor_birth = processes.birth_of(process.supervisor);
  };
  if (record.controller) note(*record.controller);
  for (auto& [id, set] : record.engine_sets)
    for (auto& [key, process] : set.processes) note(process);
}

bool is_supervised(const net::ProfilePaths& paths) {
  return os::FileLock::holder(paths.cluster_lock_file()).has_value();
}

/// Adds to what lives here what may live elsewhere: other hosts and containers may use the same
/// file.
void keep_what_cannot_be_seen(ClusterRecord& living, const ClusterRecord& record,
                              bool is_controller_alive) {
  const HostIdentity here = HostIdentity::here();
  const ClusterRecord elsewhere = living_part(
      record, [&](const RecordedProcess& process) { return is_elsewhere(process, here); });
  if (is_controller_alive || elsewhere.controller) living.controller = record.controller;
  for (const auto& [id, set] : elsewhere.engine_sets) living.engine_sets.emplace(id, set);
}

/// Lets one process at a time read a cluster file and write it anew: the controller's pxcluster and
/// those of engines each know a part. Without locks, as on some network file systems, it goes on.
os::Descriptor lock_folder(const std::filesystem::path& folder) {
  os::Descriptor descriptor{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (descriptor.is_open()) os::retried([&] { return ::flock(descriptor.value(), LOCK_EX); });
  return descriptor;
}

}  // namespace

bool is_same_process(const RecordedProcess& process, os::Processes& processes) {
  if (!processes.is_alive(process.pid)) return false;
  const std::string birth = processes.birth_of(process.pid);
  return birth.empty() || process.birth.empty() || birth == process.birth;
}

Result<FoundCluster> load_cluster(const net::ProfilePaths& paths, os::Processes& processes) {
  const auto path = paths.cluster_file();
  const auto text = os::read_file(path);
  if (!text) return text.error();
  const auto record = read_cluster_record(*text);
  if (!record)
    return Error{ErrorKind::bad_input,
                 path.string() + " is not a cluster file: " + record.error().what};
  const auto written = modified_at(path);
  const auto lives = [&](const RecordedProcess& process) {
    if (!is_same_process(process, processes)) return false;
    if (!process.birth.empty()) return true;
    const auto started = processes.started_at(process.pid);
    return !started || !written || *started <= *written + tolerance;
  };
  return FoundCluster{.paths = paths, .record = *record, .living = living_part(*record, lives)};
}

std::optional<std::string> runs_elsewhere(const net::ProfilePaths& paths,
                                          const Result<FoundCluster>& found) {
  for (const auto& file : {paths.cluster_lock_file(), paths.controller_lock_file()})
    if (const auto holder = os::FileLock::holder(file))
      return holder->pid ? std::nullopt : std::optional(holder->text());
  if (!found || !found->living.is_empty()) return std::nullopt;
  const std::string hosts = other_hosts(found->record, HostIdentity::here());
  if (hosts.empty()) return std::nullopt;
  return os::FileLock::LockHolder{std::nullopt, hosts}.text();
}

std::vector<std::string> recorded_cluster_ids(const net::ProfilePaths& profile) {
  return sorted_names(profile.security(), [](const auto& entry) -> std::optional<std::string> {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("cluster-") || !name.ends_with(".json")) return std::nullopt;
    return name.substr(8, name.size() - 13);
  });
}

std::vector<std::string> announced_cluster_ids(const net::ProfilePaths& profile) {
  constexpr std::string_view stem = "ipcontroller", end = "-client.json";
  return sorted_names(profile.security(), [&](const auto& entry) -> std::optional<std::string> {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(stem) || !name.ends_with(end)) return std::nullopt;
    const std::size_t length = stem.size() + end.size();
    if (name.size() == length) return "";
    if (name.size() == length + 1 || name[stem.size()] != '-') return std::nullopt;
    return name.substr(stem.size() + 1, name.size() - length - 1);
  });
}

Result<void> save_cluster(const net::ProfilePaths& paths, const ClusterRecord& own,
                          const std::string& own_set_id, bool owns_controller,
                          os::Processes& processes) {
  const os::Descriptor lock = lock_folder(paths.cluster_file().parent_path());
  ClusterRecord others;
  if (auto found = load_cluster(paths, processes)) {
    others = found->living;
    const bool is_the_end = owns_controller && own.is_empty();
    if (!is_the_end)
      keep_what_cannot_be_seen(others, found->record, !owns_controller && is_supervised(paths));
  }
  others.engine_sets.erase(own_set_id);
  if (owns_controller) others.controller.reset();
  ClusterRecord merged = own.is_empty() ? others : merge_records(others, own);
  note_births(merged, processes);
  if (!merged.is_empty())
    return os::write_file_atomically(paths.cluster_file(), write_cluster_record(merged), 0644);
  std::error_code error;
  std::filesystem::remove(paths.cluster_file(), error);
  return {};
}

std::filesystem::path job_end_file(const net::ProfilePaths& paths,
                                   const std::string& engine_set_id) {
  return paths.pid() / ("engines-" + engine_set_id + ".end");
}

std::vector<std::string> read_job_ends(const FoundCluster& found) {
  std::vector<std::string> sentences;
  for (const auto& [id, set] : found.living.engine_sets)
    if (const auto text = os::read_file(job_end_file(found.paths, id)); text && !text->empty())
      sentences.push_back(text->substr(0, text->find('\n')));
  return sentences;
}

std::vector<std::filesystem::path> remove_left_files(const net::ProfilePaths& paths) {
  std::vector<std::filesystem::path> removed;
  // With it goes the file of the lock, which a controller that was killed has left.
  const auto lock = os::FileLock::take(paths.controller_lock_file());
  if (!lock && lock.error().kind == ErrorKind::overloaded) return removed;
  std::vector<std::filesystem::path> files{paths.cluster_file(), paths.client_file(),
                                           paths.engine_file()};
  for (auto& path : net::ProfilePaths::all_beside(paths.client_file()))
    files.push_back(std::move(path));
  for (const auto& path : files) {
    std::error_code error;
    if (std::filesystem::remove(path, error)) removed.push_back(path);
  }
  return removed;
}

std::vector<net::ProfilePaths> all_profiles(const std::filesystem::path& ipython_dir) {
  std::vector<net::ProfilePaths> profiles;
  const auto names = sorted_names(ipython_dir, [](const auto& entry) -> std::optional<std::string> {
    const std::string name = entry.path().filename().string();
    std::error_code error;
    if (!name.starts_with("profile_") || !entry.is_directory(error)) return std::nullopt;
    return name;
  });
  for (const std::string& name : names)
    profiles.push_back({.root = ipython_dir / name, .cluster_id = ""});
  return profiles;
}

}  // namespace px::cluster
