#include "cluster/supervise/stopper.hpp"

#include <algorithm>
#include <array>

#include "cluster/records/record_file.hpp"

namespace px::cluster {
namespace {

constexpr Duration supervisor_patience = std::chrono::seconds(20);
constexpr Duration signal_patience = std::chrono::seconds(5);
constexpr Duration step = std::chrono::milliseconds(20);

using Recorded = std::vector<RecordedProcess>;

/// A pid alone could be that of another process by now.
Recorded alive(const Recorded& recorded, os::Processes& processes) {
  Recorded living;
  for (const RecordedProcess& process : recorded)
    if (is_same_process(process, processes)) living.push_back(process);
  return living;
}

/// Those that are still there when the time is up.
Recorded wait_for_end(const Recorded& recorded, Duration time, os::Processes& processes) {
  const Instant deadline = processes.now() + time;
  for (;;) {
    auto living = alive(recorded, processes);
    if (living.empty() || processes.now() >= deadline) return living;
    processes.pause(step);
  }
}

/// The signal, some patience, SIGKILL; gives what even survives that.
Recorded end_processes(const Recorded& recorded, int signal, os::Processes& processes) {
  for (const RecordedProcess& process : alive(recorded, processes))
    processes.signal(process.pid, signal, false);
  for (const RecordedProcess& process : wait_for_end(recorded, signal_patience, processes))
    processes.signal(process.pid, SIGKILL, true);
  return wait_for_end(recorded, signal_patience, processes);
}

Recorded engine_processes(const ClusterRecord& record) {
  Recorded found;
  for (const auto& [id, set] : record.engine_sets)
    for (const auto& [key, process] : set.processes) found.push_back(process);
  return found;
}

bool is_local(const std::string& launcher) {
  constexpr std::array known{"local", "mpi", "polyxeus", "polyxeus-local", "polyxeus-mpi"};
  return std::find(known.begin(), known.end(), launcher) != known.end();
}

std::string joined(const Recorded& recorded) {
  std::string text;
  for (const RecordedProcess& process : recorded) text += " " + std::to_string(process.pid);
  return text;
}

}  // namespace

Result<void> stop_processes(const ClusterRecord& living, std::optional<int> supervisor, int signal,
                            os::Processes& processes) {
  if (!is_local(living.controller_launcher) || !is_local(living.engine_launcher))
    return Error{ErrorKind::unsupported, "its engines were started with '" +
                                             living.engine_launcher +
                                             "', which pxcluster cannot stop: use ipcluster stop"};
  Recorded supervisors;
  if (supervisor) {
    supervisors.push_back(
        {.pid = *supervisor, .output_file = "", .birth = processes.birth_of(*supervisor)});
    processes.signal(*supervisor, signal == SIGKILL ? SIGTERM : signal, false);
    wait_for_end(supervisors, supervisor_patience, processes);
  }
  Recorded left = end_processes(engine_processes(living), signal, processes);
  const Recorded controllers = living.controller ? Recorded{*living.controller} : Recorded{};
  for (const auto& more :
       {end_processes(controllers, signal, processes), alive(supervisors, processes)})
    left.insert(left.end(), more.begin(), more.end());
  if (left.empty()) return {};
  return Error{ErrorKind::system, "these processes did not end:" + joined(left)};
}

}  // namespace px::cluster
