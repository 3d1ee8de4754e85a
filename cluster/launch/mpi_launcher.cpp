#include "cluster/launch/launchers.hpp"

#include <algorithm>

#include "cluster/launch/mpi_kind.hpp"
#include "cluster/launch/rank_plans.hpp"
#include "wire/counted.hpp"

namespace px::cluster {
namespace {

using Environment = std::map<std::string, std::string>;

Result<void> check_mpiexec(const LaunchRequest& request, const Machine& machine) {
  const std::vector<std::string>& mpi_cmd = request.settings.mpi_cmd;
  if (!mpi_cmd.empty() && machine.find_program(mpi_cmd.front())) return {};
  return Error{ErrorKind::unsupported,
               "cannot start MPI engines: the program '" +
                   (mpi_cmd.empty() ? std::string() : mpi_cmd.front()) +
                   "' does not exist; install Open MPI or MPICH, load its module, or use "
                   "--engines=local"};
}

std::vector<std::string> mpiexec_argv(const Settings& settings, int count) {
  std::vector<std::string> argv = settings.mpi_cmd;
  argv.insert(argv.end(), {"-n", std::to_string(count)});
  argv.insert(argv.end(), settings.mpi_args.begin(), settings.mpi_args.end());
  return argv;
}

/// A host that is lost must be noticed: without this mpiexec waits for ever. After 40 s, so that
/// the world outlives what engines outlive that ssh starts: a cut of 20 s, from which TCP recovers
/// within 10 s more.
constexpr const char* rsh_arguments =
    "-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=8";

/// The hosts of `shares`, as both mpiexecs take them: "host1:2,host2:1".
std::string placed(const std::vector<HostSlots>& hosts, const std::vector<int>& shares) {
  std::string text;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (shares[i] > 0)
      text += (text.empty() ? "" : ",") + hosts[i].host + ":" + std::to_string(shares[i]);
  return text;
}

/// Where the ranks go, and which variables reach them: MPICH passes all, Open MPI the named ones.
std::vector<std::string> placement(const LaunchRequest& request, const Machine& machine,
                                   MpiKind kind, Environment& environment) {
  const auto& hosts = request.settings.hosts;
  if (hosts.empty()) return {};
  const std::string where = placed(hosts, share_engines(hosts, request.engine_count));
  if (kind == MpiKind::mpich) {
    environment.try_emplace("HYDRA_LAUNCHER_EXTRA_ARGS", rsh_arguments);
    return {"-launcher", "ssh", "-hosts", where};
  }
  std::vector<std::string> arguments{"--host", where};
  if (!machine.variable("OMPI_MCA_plm_rsh_args"))
    arguments.insert(arguments.end(), {"--mca", "plm_rsh_args", rsh_arguments});
  for (const auto& [name, value] : environment)
    if (!name.starts_with("OMPI_") && !name.starts_with("PRTE_"))
      arguments.insert(arguments.end(), {"-x", name});
  arguments.insert(arguments.end(), {"-x", "IPP_CONNECTION_INFO"});
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})  // pxengine finds its Python by them
    if (machine.variable(name) && !environment.contains(name))
      arguments.insert(arguments.end(), {"-x", name});
  return arguments;
}

/// `program`, after the user's lines of shell.
std::vector<std::string> after_setup(const std::vector<std::string>& setup,
                                     std::vector<std::string> program) {
  if (setup.empty()) return program;
  std::string script;
  for (const std::string& line : setup) script += line + "\n";
  std::vector<std::string> argv{"bash", "-l", "-c", script + "exec \"$0\" \"$@\""};
  argv.insert(argv.end(), program.begin(), program.end());
  return argv;
}

bool names_hosts(const std::vector<std::string>& mpi_args) {
  return std::any_of(mpi_args.begin(), mpi_args.end(), [](const std::string& argument) {
    return argument.find("host") != std::string::npos ||
           argument.find("machinefile") != std::string::npos;
  });
}

/// Whether somebody else has said where ranks may go, and how many.
bool has_placement(const Settings& settings, const Machine& machine) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE"})
    if (machine.variable(name)) return true;
  return names_hosts(settings.mpi_args) ||
         std::any_of(settings.mpi_args.begin(), settings.mpi_args.end(), [](const auto& argument) {
           return argument.find("oversubscribe") != std::string::npos;
         });
}

void allow_root(Environment& environment, const Machine& machine, std::vector<std::string>* notes) {
  if (!machine.is_root) return;
  const bool is_first = set_default(environment, "OMPI_ALLOW_RUN_AS_ROOT", "1", machine);
  const bool is_second = set_default(environment, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", machine);
  if ((is_first || is_second) && notes)
    notes->push_back("you are root: setting OMPI_ALLOW_RUN_AS_ROOT=1 for mpiexec");
}

/// For a single host: Open MPI 4 and 5 read different variables; others read neither.
void allow_oversubscription(Environment& environment, const LaunchRequest& request,
                            const Machine& machine, std::vector<std::string>& notes) {
  const int count = request.engine_count;
  const auto& hosts = request.settings.hosts;
  const int slots = hosts.empty() ? machine.physical_cores : count_slots(hosts);
  if (count <= slots && !hosts.empty()) return;  // the ranks are placed host by host
  if (count <= slots || has_placement(request.settings, machine)) return;
  const bool is_set =
      set_default(environment, "OMPI_MCA_rmaps_base_oversubscribe", "1", machine) &&
      set_default(environment, "PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", machine);
  if (is_set && count > (hosts.empty() ? machine.cores : slots))
    notes.push_back(counted(count, "rank") + " on " +
                    (hosts.empty() ? counted(machine.cores, "core") : counted(slots, "slot")) +
                    ": telling mpiexec to oversubscribe");
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

Result<std::vector<PlannedProcess>> MpiLauncher::plan_more(const LaunchRequest&, int, int,
                                                           const Machine&) const {
  return Error{
      ErrorKind::unsupported,
      "the ranks of an MPI world start and end together, so their number cannot follow the "
      "work: add a second world with `pxcluster engines --engines=mpi -n N`, or start the "
      "cluster with --engines=local or ssh"};
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
  if (!settings.hosts.empty()) {
    const MpiKind kind = find_mpi_kind(settings.mpi_cmd, machine);
    const auto where = placement(request, machine, kind, command.environment);
    const auto behind_count = command.argv.begin() + settings.mpi_cmd.size() + 2;
    command.argv.insert(behind_count, where.begin(), where.end());
    plan.ranks = plan_ranks(request, share_engines(settings.hosts, request.engine_count), machine);
  } else if (!machine.variable("SLURM_JOB_ID") && !names_hosts(settings.mpi_args)) {
    plan.ranks.address = machine.host;  // a job of PBS, LSF or Grid Engine begins on the first host
  }
  std::vector<std::string> program =
      settings.remote_engine_cmd.empty() ? settings.engine_cmd : settings.remote_engine_cmd;
  if (!settings.remote_python.empty()) program.push_back("--python=" + settings.remote_python);
  program.push_back("--mpi");
  if (!settings.language.empty()) program.push_back("--language=" + settings.language);
  program.insert(program.end(), settings.engine_args.begin(), settings.engine_args.end());
  program = after_setup(settings.engine_env, std::move(program));
  command.argv.insert(command.argv.end(), program.begin(), program.end());
  const std::string& id = request.paths.cluster_id;
  command.log_file =
      request.paths.log() / ("ipengine" + (id.empty() ? "" : "-" + id) + "-" +
                             request.engine_set_id + "-" + std::to_string(machine.pid) + ".log");
  if (settings.hosts.empty() ? !has_placement(settings, machine) : !names_other_hosts(settings))
    plan.count_here = request.engine_count;
  // mpiexec takes its time to end what it has started on other hosts
  if (!settings.hosts.empty()) plan.patience = std::chrono::seconds(10);
  allow_root(command.environment, machine, &plan.notes);
  allow_oversubscription(command.environment, request, machine, plan.notes);
  plan.processes.push_back(
      {.command = std::move(command), .engine_count = request.engine_count, .has_children = true});
  return plan;
}

}  // namespace px::cluster
