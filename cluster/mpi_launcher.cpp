#include <px/cluster/mpi_launcher.hpp>

#include <algorithm>

namespace px {
namespace {

using Environment = std::map<std::string, std::string>;

Result<void> check_mpiexec(const LaunchRequest& request, const Machine& machine) {
  const std::vector<std::string>& mpi_cmd = request.settings.mpi_cmd;
  if (!mpi_cmd.empty() && machine.find_program(mpi_cmd.front())) return {};
  return Error{ErrorKind::unsupported,
               "cannot start anything by MPI: the program '" +
                   (mpi_cmd.empty() ? std::string() : mpi_cmd.front()) +
                   "' is not there; install Open MPI or MPICH, load its module, or use "
                   "--engines=local"};
}

std::vector<std::string> mpiexec_argv(const Settings& settings, int count) {
  std::vector<std::string> argv = settings.mpi_cmd;
  argv.insert(argv.end(), {"-n", std::to_string(count)});
  argv.insert(argv.end(), settings.mpi_args.begin(), settings.mpi_args.end());
  return argv;
}

/// Sets `name`, unless the user has said something about it. True: it is set now by us.
bool set_default(Environment& environment, const std::string& name, const std::string& value,
                 const Machine& machine) {
  if (environment.contains(name) || machine.variable(name)) return false;
  environment[name] = value;
  return true;
}

/// Whether somebody else has said where ranks may go, and how many.
bool has_placement(const Settings& settings, const Machine& machine) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE"})
    if (machine.variable(name)) return true;
  return std::any_of(settings.mpi_args.begin(), settings.mpi_args.end(), [](const auto& argument) {
    return argument.find("host") != std::string::npos ||
           argument.find("machinefile") != std::string::npos ||
           argument.find("oversubscribe") != std::string::npos;
  });
}

void allow_root(Environment& environment, const Machine& machine, std::vector<std::string>* notes) {
  if (!machine.is_root) return;
  const bool is_first = set_default(environment, "OMPI_ALLOW_RUN_AS_ROOT", "1", machine);
  const bool is_second = set_default(environment, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", machine);
  if ((is_first || is_second) && notes)
    notes->push_back("you are root: mpiexec is told to run as root (OMPI_ALLOW_RUN_AS_ROOT=1)");
}

/// For a single host: Open MPI 4 and 5 read different variables; others read neither.
void allow_oversubscription(Environment& environment, const LaunchRequest& request,
                            const Machine& machine, std::vector<std::string>& notes) {
  const int count = request.engine_count;
  if (count <= machine.physical_cores || has_placement(request.settings, machine)) return;
  const bool is_set =
      set_default(environment, "OMPI_MCA_rmaps_base_oversubscribe", "1", machine) &&
      set_default(environment, "PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", machine);
  if (is_set && count > machine.cores)
    notes.push_back(std::to_string(count) + " ranks on " + std::to_string(machine.cores) +
                    " cores: mpiexec is told to oversubscribe");
}

}  // namespace

Result<PlannedProcess> MpiLauncher::plan_controller(const LaunchRequest& request,
                                                    const Machine& machine) const {
  if (auto there = check_mpiexec(request, machine); !there) return there.error();
  const std::vector<std::string> program = controller_argv(request);
  if (auto there = check_program(program, "the controller", machine); !there) return there.error();
  PlannedProcess controller;
  controller.has_children = true;
  controller.command = {.argv = mpiexec_argv(request.settings, 1),
                        .environment = cluster_environment(request),
                        .log_file = controller_log(request, machine)};
  controller.command.argv.insert(controller.command.argv.end(), program.begin(), program.end());
  allow_root(controller.command.environment, machine, nullptr);
  return controller;
}

bool MpiLauncher::is_remote(const LaunchRequest& request) const {
  return names_other_hosts(request.settings);
}

Result<EnginePlan> MpiLauncher::plan_engines(const LaunchRequest& request,
                                             const Machine& machine) const {
  if (auto there = check_mpiexec(request, machine); !there) return there.error();
  const Settings& settings = request.settings;
  if (auto there = check_program(settings.engine_cmd, "the engines", machine); !there)
    return there.error();
  EnginePlan plan;
  if (request.engine_count == 0) return plan;
  Command command{.argv = mpiexec_argv(settings, request.engine_count),
                  .environment = cluster_environment(request),
                  .log_file = {}};
  command.argv.insert(command.argv.end(), settings.engine_cmd.begin(), settings.engine_cmd.end());
  command.argv.push_back("--mpi");
  if (!settings.language.empty()) command.argv.push_back("--language=" + settings.language);
  command.argv.insert(command.argv.end(), settings.engine_args.begin(), settings.engine_args.end());
  const std::string& id = request.paths.cluster_id;
  command.log_file =
      request.paths.log() / ("ipengine" + (id.empty() ? "" : "-" + id) + "-" +
                             request.engine_set_id + "-" + std::to_string(machine.pid) + ".log");
  allow_root(command.environment, machine, &plan.notes);
  allow_oversubscription(command.environment, request, machine, plan.notes);
  plan.processes.push_back(
      {.command = std::move(command), .engine_count = request.engine_count, .has_children = true});
  return plan;
}

}  // namespace px
