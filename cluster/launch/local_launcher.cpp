#include "cluster/launch/launchers.hpp"

#include "program/thread_share.hpp"

namespace px::cluster {
namespace {

/// Sets the threads of libraries, also for engines of ipyparallel. Engines of polyxeus that other
/// launchers start do it themselves.
void share_cores(EnginePlan& plan, std::map<std::string, std::string>& environment,
                 const Machine& machine) {
  const auto variable = [&](const std::string& name) -> std::optional<std::string> {
    if (const auto own = environment.find(name); own != environment.end()) return own->second;
    return machine.variable ? machine.variable(name) : std::nullopt;
  };
  const program::ThreadShare share = program::share_threads(
      variable, {.own = machine.cores, .host = machine.cores, .quota = machine.core_quota},
      plan.count_here);
  for (const auto& [name, value] : share.variables) environment[name] = value;
  if (!share.note.empty()) plan.notes.push_back(share.note);
}

}  // namespace

Result<PlannedProcess> LocalLauncher::plan_controller(const LaunchRequest& request,
                                                      const Machine& machine) const {
  PlannedProcess controller;
  controller.has_children = true;  // ipyparallel's own is a family of processes
  controller.command = {.argv = controller_argv(request),
                        .environment = cluster_environment(request),
                        .log_file = controller_log(request, machine)};
  if (auto there = check_program(controller.command.argv, "the controller", machine); !there)
    return there.error();
  return controller;
}

Result<EnginePlan> LocalLauncher::plan_engines(const LaunchRequest& request,
                                               const Machine& machine) const {
  const Settings& settings = request.settings;
  if (names_other_hosts(settings))
    return Error{
        ErrorKind::bad_input,
        "--engines=local starts engines on this host only: for other hosts use --engines=ssh or "
        "--engines=mpi"};
  std::vector<std::string> argv = settings.engine_cmd;
  argv.insert(argv.end(), settings.engine_args.begin(), settings.engine_args.end());
  if (auto there = check_program(argv, "the engines", machine); !there) return there.error();
  EnginePlan plan;
  plan.count_here = request.engine_count;
  plan.ranks.hosts.assign(request.engine_count > 0 ? 1 : 0, request.engine_count);
  auto environment = cluster_environment(request);
  if (request.engine_count > 0) share_cores(plan, environment, machine);
  for (int i = 0; i < request.engine_count; ++i) {
    const Result<std::vector<std::string>> own = with_language(argv, settings.language, i);
    if (!own) return own.error();
    plan.processes.push_back(
        {.command = {.argv = *own,
                     .environment = environment,
                     .log_file = engine_log_stem(request, i).string() + ".log"},
         .engine_count = 1});
  }
  return plan;
}

/// The threads of libraries are shared as if all engines ran.
Result<std::vector<PlannedProcess>> LocalLauncher::plan_more(const LaunchRequest& request,
                                                             int first, int count,
                                                             const Machine& machine) const {
  LaunchRequest all = request;
  all.engine_count = first + count;
  auto plan = plan_engines(all, machine);
  if (!plan) return plan.error();
  return std::vector(plan->processes.begin() + first, plan->processes.end());
}

}  // namespace px::cluster
