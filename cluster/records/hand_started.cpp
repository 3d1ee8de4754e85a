#include "cluster/records/hand_started.hpp"

#include "cluster/records/hub_client.hpp"
#include "os/file_lock.hpp"
#include "os/private_file.hpp"

namespace px::cluster {
namespace {

constexpr Duration patience_of_list = std::chrono::seconds(1);

/// The process that the file names, if it is that one which runs under this pid here and now.
std::optional<RecordedProcess> running_process(const ClientConnectionInfo& info,
                                               os::Processes& processes) {
  if (!info.process || !processes.is_alive(info.process->pid)) return std::nullopt;
  const std::string birth = processes.birth_of(info.process->pid);
  if (birth.empty() || birth != info.process->birth) return std::nullopt;
  RecordedProcess process;
  process.pid = info.process->pid;
  process.birth = birth;
  return process;
}

}  // namespace

std::optional<HandStarted> find_hand_started(const net::ProfilePaths& paths,
                                             os::Processes& processes, const CountEngines& count) {
  const auto text = os::read_private_file(paths.client_file());
  if (!text) return std::nullopt;
  const auto info = read_client_connection_info(*text);
  if (!info) return std::nullopt;
  HandStarted found{info->location, running_process(*info, processes), count(*info)};
  if (!found.process && !found.engine_count) return std::nullopt;
  return found;
}

std::optional<HandStarted> hand_started_beside(const net::ProfilePaths& paths,
                                               const Result<FoundCluster>& found,
                                               os::Processes& processes,
                                               const CountEngines& count) {
  if ((found && found->living.controller) || os::FileLock::holder(paths.cluster_lock_file()))
    return std::nullopt;
  return find_hand_started(paths, processes, count);
}

std::optional<int> count_engines(const ClientConnectionInfo& info) {
  const auto answer = HubClient::ask_once(info, patience_of_list);
  return answer ? std::optional{answer->engine_count} : std::nullopt;
}

}  // namespace px::cluster
