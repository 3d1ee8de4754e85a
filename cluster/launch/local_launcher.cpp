#include "cluster/launch/launchers.hpp"

#include <algorithm>

namespace px::cluster {
namespace {

/// Several engines on one host share its cores: each would else start as many threads as there are.
void share_cores(std::map<std::string, std::string>& environment, int engine_count,
                 const Machine& machine) {
  constexpr const char* name = "OMP_NUM_THREADS";  // OpenBLAS, MKL and PyTorch follow it
  if (engine_count < 2 || (machine.variable && machine.variable(name))) return;
  environment.try_emplace(name, std::to_string(std::max(1, machine.cores / engine_count)));
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
  share_cores(environment, request.engine_count, machine);
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

}  // namespace px::cluster
