#include "cluster/supervise/stopper.hpp"

#include <algorithm>
#include <array>

namespace px::cluster {
namespace {

constexpr Duration supervisor_patience = std::chrono::seconds(20);
constexpr Duration signal_patience = std::chrono::seconds(5);
constexpr Duration step = std::chrono::milliseconds(20);

std::vector<int> alive(const std::vector<int>& pids, os::Processes& processes) {
  std::vector<int> living;
  for (const int pid : pids)
    if (processes.is_alive(pid)) living.push_back(pid);
  return living;
}

/// Those that are still there when the time is up.
std::vector<int> wait_for_end(const std::vector<int>& pids, Duration time,
                              os::Processes& processes) {
  const Instant deadline = processes.now() + time;
  for (;;) {
    auto living = alive(pids, processes);
    if (living.empty() || processes.now() >= deadline) return living;
    processes.pause(step);
  }
}

/// The signal, some patience, SIGKILL; gives what even survives that.
std::vector<int> end_processes(const std::vector<int>& pids, int signal, os::Processes& processes) {
  for (const int pid : alive(pids, processes)) processes.signal(pid, signal, false);
  for (const int pid : wait_for_end(pids, signal_patience, processes))
    processes.signal(pid, SIGKILL, true);
  return wait_for_end(pids, signal_patience, processes);
}

bool is_local(const std::string& launcher) {
  constexpr std::array known{"local", "mpi", "polyxeus", "polyxeus-local", "polyxeus-mpi"};
  return std::find(known.begin(), known.end(), launcher) != known.end();
}

std::string joined(const std::vector<int>& pids) {
  std::string text;
  for (const int pid : pids) text += " " + std::to_string(pid);
  return text;
}

}  // namespace

Result<void> stop_processes(const ClusterRecord& living, std::optional<int> supervisor, int signal,
                            os::Processes& processes) {
  if (!is_local(living.controller_launcher) || !is_local(living.engine_launcher))
    return Error{ErrorKind::unsupported, "its engines were started with '" +
                                             living.engine_launcher +
                                             "', which pxcluster cannot stop: use ipcluster stop"};
  const std::vector<int> engines = living.engine_pids();
  const std::vector<int> controllers =
      living.controller ? std::vector<int>{living.controller->pid} : std::vector<int>{};
  if (supervisor) {
    processes.signal(*supervisor, signal == SIGKILL ? SIGTERM : signal, false);
    wait_for_end({*supervisor}, supervisor_patience, processes);
  }
  std::vector<int> left = end_processes(engines, signal, processes);
  const std::vector<int> left_controllers = end_processes(controllers, signal, processes);
  left.insert(left.end(), left_controllers.begin(), left_controllers.end());
  if (supervisor && processes.is_alive(*supervisor)) left.push_back(*supervisor);
  if (left.empty()) return {};
  return Error{ErrorKind::system, "these processes did not end:" + joined(left)};
}

}  // namespace px::cluster
