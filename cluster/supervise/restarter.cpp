#include "cluster/supervise/restarter.hpp"

#include <algorithm>
#include <vector>

#include "cluster/records/record_file.hpp"

namespace px::cluster {
namespace {

constexpr Duration report_interval = std::chrono::milliseconds(20);

RecordedProcess supervisor_of(const RecordedEngineSet& set) {
  return set.processes.empty() ? RecordedProcess{}
                               : set.processes.begin()->second.supervising_process();
}

/// The pxclusters to ask: that of the controller first, as its engines got the first ids.
Result<std::vector<RecordedProcess>> find_supervisors(const ClusterRecord& record,
                                                      const std::string& only,
                                                      os::Processes& processes) {
  std::vector<RecordedProcess> found;
  std::string known;
  if (only.empty() && record.controller && record.controller->supervisor > 0 &&
      is_same_process(record.controller->supervising_process(), processes))
    found.push_back(record.controller->supervising_process());
  for (const auto& [id, set] : record.engine_sets) {
    known += (known.empty() ? "" : ", ") + id;
    if (!only.empty() && id != only) continue;
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
  if (only.empty())
    return Error{ErrorKind::unsupported,
                 "the cluster was not started by pxcluster, so its engines cannot be restarted"};
  return Error{ErrorKind::not_found, "there is no engine set '" + only + "'; there " +
                                         (known.empty() ? "is none" : "are: " + known)};
}

/// Its report of a restart after that of `before`.
Result<RestartReport> wait_for_report(const RecordedProcess& supervisor, int before,
                                      os::Processes& processes,
                                      const ReadRestartReport& read_report) {
  for (;;) {
    const bool is_alive = is_same_process(supervisor, processes);
    if (auto report = read_report(supervisor.pid); report && report->restarts > before)
      return *report;
    if (!is_alive)
      return Error{ErrorKind::system, "the pxcluster " + std::to_string(supervisor.pid) +
                                          " ended while it restarted its engines: see "
                                          "`pxcluster logs`"};
    processes.pause(report_interval);
  }
}

}  // namespace

Result<int> restart_engines(const ClusterRecord& record, const std::string& engine_set,
                            os::Processes& processes, const ReadRestartReport& read_report) {
  const auto supervisors = find_supervisors(record, engine_set, processes);
  if (!supervisors) return supervisors.error();
  int count = 0;
  std::string problems;
  for (const RecordedProcess& supervisor : *supervisors) {
    const auto before = read_report(supervisor.pid);
    processes.signal(supervisor.pid, restart_signal(), false);
    const auto report =
        wait_for_report(supervisor, before ? before->restarts : 0, processes, read_report);
    if (!report) return report.error();
    count += report->engine_count;
    if (!report->problem.empty()) problems += (problems.empty() ? "" : "; ") + report->problem;
  }
  if (!problems.empty()) return Error{ErrorKind::system, problems};
  return count;
}

}  // namespace px::cluster
