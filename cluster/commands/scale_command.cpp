// pxcluster scale: how many engines a cluster may have.

#include <iostream>
#include <thread>

#include "cluster/commands/commands.hpp"
#include "cluster/records/record_file.hpp"
#include "cluster/records/scale_report.hpp"
#include "os/processes.hpp"

namespace px::cluster {
namespace {

constexpr Duration order_patience = std::chrono::seconds(10);
constexpr auto order_interval = std::chrono::milliseconds(10);

struct ScaledSet {
  int supervisor = 0;
  ScaleReport report;
};

/// The set that is meant: the only one that has engines or is scaled, otherwise that of the
/// controller's pxcluster.
/// errors  not_found: no pxcluster reports; unsupported: several sets have engines.
Result<ScaledSet> find_set(const net::ProfilePaths& paths, os::Processes& processes) {
  std::vector<ScaledSet> all, used;
  for (auto& [pid, report] : scale_reports(paths, processes))
    all.push_back({pid, std::move(report)});
  for (const ScaledSet& each : all)
    if (each.report.engines > 0 || each.report.scale) used.push_back(each);
  if (used.size() > 1)
    return Error{ErrorKind::unsupported,
                 "this cluster has " + std::to_string(used.size()) +
                     " sets of engines, and only the engines of a single set can be scaled: end "
                     "the engines that `pxcluster engines` has added"};
  if (used.size() == 1) return used.front();
  for (const ScaledSet& each : all)
    if (each.report.owns_controller) return each;
  return Error{ErrorKind::not_found,
               "no pxcluster of this version supervises the cluster on this host, so its engines "
               "cannot be scaled: start it again with `pxcluster start`"};
}

/// Waits for the answer to the order.
Result<ScaleReport> give(const net::ProfilePaths& paths, const ScaledSet& set,
                         const ScaleOrder& order, os::Processes& processes) {
  if (auto written = write_scale_order(paths, set.supervisor, order); !written)
    return written.error();
  processes.signal(set.supervisor, scale_signal(), false);
  for (const Instant end = Clock::now() + order_patience; Clock::now() < end;) {
    bool is_there = false;
    for (const auto& [pid, report] : scale_reports(paths, processes)) {
      is_there = is_there || pid == set.supervisor;
      if (pid != set.supervisor || report.orders == set.report.orders) continue;
      if (!report.problem.empty()) return Error{ErrorKind::unsupported, report.problem};
      return report;
    }
    if (!is_there) break;
    std::this_thread::sleep_for(order_interval);
  }
  return Error{ErrorKind::system, "the pxcluster " + std::to_string(set.supervisor) +
                                      " did not accept the command: see `pxcluster logs`"};
}

Json as_answer(const ScaleReport& report) {
  const Json all = write_scale_report(report);
  Json answer{{"minimum", nullptr}, {"maximum", nullptr}, {"idle_seconds", nullptr}};
  if (report.scale) answer = all.at("scale");
  for (const char* key : {"engines", "respawn_limit", "respawned", "waiting"})
    answer[key] = all.at(key);
  return answer;
}

}  // namespace

std::string upkeep_text(const program::ProgramOptions& program) {
  const auto paths = net::find_profile(program.profile);
  if (!paths) return "";
  os::LocalProcesses processes;
  std::string text;
  for (const auto& [pid, report] : scale_reports(*paths, processes))
    if (report.scale || report.respawn_limit > 0) text += scale_as_text(report);
  return text;
}

int run_command(const program::ProgramOptions& program, const ScaleOptions& options,
                Console& console) {
  const auto paths = net::find_profile(program.profile);
  if (!paths) return fail(console, paths.error());
  if (options.least.has_value() != options.most.has_value())
    return fail(console,
                Error{ErrorKind::bad_input,
                      "scale takes two numbers, the smallest and the largest number of engines: "
                      "`pxcluster scale 0 8`"},
                2);
  if (options.least && *options.least > *options.most)
    return fail(console,
                Error{ErrorKind::bad_input,
                      "the smallest number of engines, " + std::to_string(*options.least) +
                          ", is larger than the largest one, " + std::to_string(*options.most)},
                2);
  os::LocalProcesses processes;
  const auto found = load_cluster(*paths, processes);
  if (!found || found->living.is_empty())
    return fail(console,
                Error{ErrorKind::not_found,
                      called(*paths) + " is not running: start it with `pxcluster start`"},
                exit_not_running);
  const auto set = find_set(*paths, processes);
  if (!set) return fail(console, set.error());
  Result<ScaleReport> report = set->report;
  if (options.least || options.is_off) {
    ScaleOrder order{options.least.value_or(0), options.most.value_or(0)};
    order.idle_s = options.idle_s.value_or(order.idle_s);
    order.is_off = options.is_off;
    report = give(*paths, *set, order, processes);
  }
  if (!report) return fail(console, report.error());
  if (options.as_json)
    std::cout << pack(Packer::json, as_answer(*report)) << std::endl;
  else
    std::cout << scale_as_text(*report) << std::flush;
  return std::cout ? 0 : 1;
}

}  // namespace px::cluster
