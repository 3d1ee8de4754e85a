#include "cluster/supervise/restarter.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cluster/records/record_file.hpp"

namespace px::cluster {
namespace {

constexpr Duration report_interval = std::chrono::milliseconds(20);

RecordedProcess supervisor_of(const RecordedEngineSet& set) {
  return set.processes.empty() ? RecordedProcess{}
                               : set.processes.begin()->second.supervising_process();
}

/// The pxclusters to ask: that of the controller first, as its engines got the first ids. A set
/// whose engines have all ended is in no record: it was the controller's. sets  the ids of the only
/// sets; empty: all.
Result<std::vector<RecordedProcess>> find_supervisors(const ClusterRecord& record,
                                                      const std::set<std::string>& sets,
                                                      bool has_ended_sets,
                                                      os::Processes& processes) {
  std::vector<RecordedProcess> found;
  std::string known;
  if ((sets.empty() || has_ended_sets) && record.controller && record.controller->supervisor > 0 &&
      is_same_process(record.controller->supervising_process(), processes))
    found.push_back(record.controller->supervising_process());
  for (const auto& [id, set] : record.engine_sets) {
    known += (known.empty() ? "" : ", ") + id;
    if (!sets.empty() && !sets.contains(id)) continue;
    const RecordedProcess supervisor = supervisor_of(set);
    if (supervisor.pid == 0 || !is_same_process(supervisor, processes))
      return Error{ErrorKind::unsupported,
                   "no pxcluster supervises the engine set " + id +
                       ", so it cannot be restarted: end its engines, and start new ones with "
                       "`pxcluster engines`"};
    if (std::find(found.begin(), found.end(), supervisor) == found.end())
      found.push_back(supervisor);
  }
  if (!found.empty()) return found;
  if (sets.empty())
    return Error{ErrorKind::unsupported,
                 "the cluster was not started by pxcluster, so its engines cannot be restarted"};
  return Error{ErrorKind::not_found, "there is no engine set '" + *sets.begin() + "'; there " +
                                         (known.empty() ? "is none" : "are: " + known)};
}

/// Its report of a restart after that of `before`.
Result<RestartReport> wait_for_report(const RecordedProcess& supervisor, int before,
                                      os::Processes& processes, const RestartChannel& channel) {
  for (;;) {
    const bool is_alive = is_same_process(supervisor, processes);
    if (auto report = channel.read_report(supervisor.pid); report && report->restarts > before)
      return *report;
    if (!is_alive)
      return Error{ErrorKind::system, "the pxcluster " + std::to_string(supervisor.pid) +
                                          " ended while it restarted its engines: see "
                                          "`pxcluster logs`"};
    processes.pause(report_interval);
  }
}

std::string launcher_of(const RecordedEngineSet& set) {
  return set.started_by.empty() ? set.launcher : set.started_by;
}

/// These engines, by the pxclusters that have started them.
std::map<int, std::vector<PlacedEngine>> orders_for(const ClusterRecord& record,
                                                    const std::vector<PlacedEngine>& engines) {
  std::map<int, std::vector<PlacedEngine>> orders;
  for (const PlacedEngine& engine : engines) {
    const auto set = record.engine_sets.find(engine.set);
    const int supervisor = set != record.engine_sets.end() ? supervisor_of(set->second).pid
                           : record.controller             ? record.controller->supervisor
                                                           : 0;
    orders[supervisor].push_back(engine);
  }
  return orders;
}

}  // namespace

Result<void> check_single_starts(const ClusterRecord& record, const RestartChoice& choice,
                                 const std::vector<PlacedEngine>& known) {
  for (const PlacedEngine& engine : choice.engines) {
    const auto is_left_out = [&](const PlacedEngine& other) {
      return other.set == engine.set && !choice.includes(other);
    };
    if (std::none_of(known.begin(), known.end(), is_left_out)) continue;
    const auto set = record.engine_sets.find(engine.set);
    const std::string launcher =
        set == record.engine_sets.end() ? record.engine_launcher : launcher_of(set->second);
    if (launcher == "local" || launcher == "ssh") continue;
    return Error{ErrorKind::unsupported,
                 "engine " + std::to_string(engine.id.value) +
                     (launcher == "mpi"
                          ? " is a rank of an MPI world, whose ranks start together"
                          : " belongs to a job of " + launcher + ", whose engines start together") +
                     ": restart all of them with `pxcluster restart` or rc.restart_engines(), "
                     "and use keep= to keep variables"};
  }
  return {};
}

Result<int> restart_engines(const ClusterRecord& record, const RestartChoice& choice,
                            os::Processes& processes, const RestartChannel& channel) {
  std::set<std::string> sets;
  bool has_ended_sets = false;
  if (!choice.engine_set.empty()) sets.insert(choice.engine_set);
  for (const PlacedEngine& engine : choice.engines) {
    sets.insert(engine.set);
    has_ended_sets = has_ended_sets || !record.engine_sets.contains(engine.set);
  }
  const auto supervisors = find_supervisors(record, sets, has_ended_sets, processes);
  if (!supervisors) return supervisors.error();
  auto orders = orders_for(record, choice.engines);
  int count = 0;
  std::string problems;
  for (const RecordedProcess& supervisor : *supervisors) {
    const auto before = channel.read_report(supervisor.pid);
    if (auto told = channel.write_order(supervisor.pid, orders[supervisor.pid]); !told)
      return told.error();
    processes.signal(supervisor.pid, restart_signal(), false);
    const auto report =
        wait_for_report(supervisor, before ? before->restarts : 0, processes, channel);
    if (!report) return report.error();
    count += report->engine_count;
    if (!report->problem.empty()) problems += (problems.empty() ? "" : "; ") + report->problem;
  }
  if (!problems.empty()) return Error{ErrorKind::system, problems};
  return count;
}

}  // namespace px::cluster
