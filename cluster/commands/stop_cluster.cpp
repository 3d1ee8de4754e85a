#include "cluster/commands/stop_cluster.hpp"

#include "client/client.hpp"
#include "client/direct_view.hpp"
#include "cluster/commands/commands.hpp"
#include "cluster/records/hand_started.hpp"
#include "cluster/supervise/stopper.hpp"
#include "os/file_lock.hpp"
#include "os/host.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

constexpr std::chrono::seconds time_to_end{5};  // for engines that are asked to

void say_removed(const net::ProfilePaths& paths, Console& console) {
  std::string names;
  for (const auto& path : remove_left_files(paths)) names += " " + path.filename().string();
  if (!names.empty())
    console.say(Level::info, called(paths) + " is dead; removed its files:" + names);
}

/// Who has to stop a controller that pxcluster cannot.
Error not_ours_to_stop(const net::ProfilePaths& paths, const HandStarted& controller) {
  const bool is_here = controller.host.empty() || controller.host == os::host_name();
  const std::string how =
      is_here ? ", and its connection file does not contain its pid: end it on its host with "
                "Ctrl-C or `kill`"
              : " on " + controller.host + ": end it there, with `pxcluster stop` or Ctrl-C";
  return {ErrorKind::unsupported, called(paths) + ": its controller was started by hand" + how};
}

/// Asks the engines to end, by their controller: nothing else is known of them. They wait for
/// another controller if only this one ends.
void end_engines_of(const std::filesystem::path& client_file, Console& console) try {
  client::ClientOptions wanted;
  wanted.file = client_file.string();
  const client::Client client = client::Client::connect(wanted);
  client.shutdown(client::Targets::all(), false, time_to_end);
  os::LocalProcesses processes;
  const Instant deadline = processes.now() + time_to_end;
  while (!client.ids().empty() && processes.now() < deadline)
    processes.pause(std::chrono::milliseconds(20));
  const std::string left = join(client.ids(), ", ", &EngineId::value);
  if (!left.empty())
    console.say(Level::warning, "these engines have not ended within " +
                                    std::to_string(time_to_end.count()) + " s: " + left +
                                    "; end their processes on their hosts");
} catch (const client::ClientError& error) {
  console.say(Level::warning,
              std::string("the engines could not be asked to end: ") + error.what());
}

}  // namespace

Result<void> stop_cluster(const net::ProfilePaths& paths, int signal, Console& console) {
  os::LocalProcesses processes;
  const auto found = load_cluster(paths, processes);
  if (const auto who = runs_elsewhere(paths, found))
    return Error{ErrorKind::unsupported, called(paths) + ": " + *who +
                                             " supervises it: stop it there; if that host is gone, "
                                             "remove its files with `pxcluster clean --force`"};
  const auto holder = os::FileLock::holder(paths.cluster_lock_file());
  const std::optional<int> supervisor = holder ? holder->pid : std::nullopt;
  const auto by_hand = hand_started_beside(paths, found, processes, &count_engines);
  if (!found && !by_hand && found.error().kind != ErrorKind::bad_input) return found.error();
  ClusterRecord living = found ? found->living : ClusterRecord{};
  if (by_hand) living.controller = by_hand->process;
  if (!living.is_empty() || (found && supervisor)) {
    std::string what = called(paths);
    if (by_hand && by_hand->process)
      what += ": its controller, process " + std::to_string(by_hand->process->pid) +
              ", was started by hand";
    console.say(Level::info, "stopping " + what);
    if (by_hand && by_hand->process && by_hand->engine_count.value_or(0) > 0)
      end_engines_of(paths.client_file(), console);
    if (auto done = stop_processes(living, supervisor, signal, processes); !done)
      return Error{done.error().kind, called(paths) + ": " + done.error().what};
    if (!by_hand) remove_left_files(paths);
  } else if (!by_hand) {
    say_removed(paths, console);
  }
  if (by_hand && !by_hand->process) return not_ours_to_stop(paths, *by_hand);
  return {};
}

}  // namespace px::cluster
