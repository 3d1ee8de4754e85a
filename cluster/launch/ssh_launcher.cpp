#include "cluster/launch/launchers.hpp"

#include "cluster/launch/rank_plans.hpp"
#include "cluster/remote/ssh_plan.hpp"
#include "cluster/remote/watch_report.hpp"

namespace px::cluster {
namespace {

/// The engine's command on the other hosts: as the user says; beside the Python that he names; or
/// as here, where programs often lie at the same place.
std::vector<std::string> remote_command(const Settings& settings) {
  std::vector<std::string> argv =
      settings.remote_engine_cmd.empty() ? settings.engine_cmd : settings.remote_engine_cmd;
  if (settings.remote_python.empty()) return argv;
  const std::filesystem::path python = settings.remote_python;
  if (settings.remote_engine_cmd.empty() && python.has_parent_path())
    argv.front() = (python.parent_path() / "pxengine").string();
  argv.push_back("--python=" + settings.remote_python);
  return argv;
}

/// The same folder relative to the home, which may be another one there.
std::string remote_profile_dir(const LaunchRequest& request, const Machine& machine) {
  const std::string& said = request.settings.remote_profile_dir;
  if (!said.empty()) return said.starts_with("~/") ? said.substr(2) : said;
  const std::string root = request.paths.root.string();
  const std::string home = machine.variable("HOME").value_or("");
  if (!home.empty() && root.starts_with(home + "/")) return root.substr(home.size() + 1);
  return root;
}

/// A name for the folder of this run there: many runs of many hosts may share one home.
std::string run_name(const LaunchRequest& request, int index, const Machine& machine) {
  const std::string id = request.paths.cluster_id.empty() ? "" : request.paths.cluster_id + "-";
  return "engines-" + id + request.engine_set_id + "-" + std::to_string(machine.pid) + "-" +
         std::to_string(index);
}

/// index  of the watcher, by which its files are named: from 0 on.
SshHostPlan host_plan(const LaunchRequest& request, const Machine& machine, const std::string& host,
                      int index) {
  const Settings& settings = request.settings;
  SshHostPlan plan;
  plan.host = host;
  plan.ssh_cmd = settings.ssh_cmd;
  plan.ssh_cmd.insert(plan.ssh_cmd.end(), settings.ssh_args.begin(), settings.ssh_args.end());
  plan.run_name = run_name(request, index, machine);
  plan.profile_dir = remote_profile_dir(request, machine);
  plan.setup = settings.engine_env;
  plan.environment = settings.environment;
  plan.environment["IPP_CLUSTER_ID"] = request.paths.cluster_id;
  if (settings.remote_engine_cmd.empty() && settings.remote_python.empty())
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
      if (const auto folder = machine.variable(name)) plan.python_homes[name] = *folder;
  plan.is_tunnelled = settings.tunnel;
  plan.may_find_program = settings.remote_engine_cmd.empty();
  plan.log_stem = engine_log_stem(request, index).string();
  plan.note_file = (request.paths.pid() /
                    ("watch-" + request.engine_set_id + "-" + std::to_string(index) + ".json"))
                       .string();
  return plan;
}

/// The process that starts the engines of one host and watches over them.
PlannedProcess watcher_of(const SshHostPlan& host, const Machine& machine) {
  Command command{
      .argv = {machine.pxcluster, "watch", "ssh"},
      .environment = {{watch_plan_variable, pack(Packer::json, write_ssh_host_plan(host))}},
      .log_file = host.log_stem + ".log",
      .has_reports = true,
      .takes_orders = true};
  return {.command = std::move(command),
          .engine_count = static_cast<int>(host.engines.size()),
          .has_children = true};
}

/// The command line of the engine with this number.
Result<std::vector<std::string>> engine_command(const Settings& settings, int number) {
  auto own = with_language(remote_command(settings), settings.language, number);
  if (own) own->insert(own->end(), settings.engine_args.begin(), settings.engine_args.end());
  return own;
}

}  // namespace

bool SshLauncher::is_remote(const LaunchRequest& request) const {
  return names_other_hosts(request.settings) && !request.settings.tunnel;
}

Result<PlannedProcess> SshLauncher::plan_controller(const LaunchRequest&, const Machine&) const {
  return Error{
      ErrorKind::unsupported,
      "pxcluster cannot start a controller by ssh: run `pxcluster start` on that host, and start "
      "the engines from there"};
}

Result<EnginePlan> SshLauncher::plan_engines(const LaunchRequest& request,
                                             const Machine& machine) const {
  const Settings& settings = request.settings;
  if (settings.hosts.empty())
    return Error{ErrorKind::bad_input,
                 "--engines=ssh needs hosts: --hosts=host2:4,host3:2 or --hostfile=FILE"};
  if (auto there = check_program(settings.ssh_cmd, "engines by ssh", machine); !there)
    return there.error();
  const std::vector<int> shares = share_engines(settings.hosts, request.engine_count);
  EnginePlan plan;
  plan.ranks = plan_ranks(request, shares, machine);
  int engine = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0) continue;
    SshHostPlan host = host_plan(request, machine, settings.hosts[i].host, static_cast<int>(i));
    for (int k = 0; k < shares[i]; ++k) {
      auto own = engine_command(settings, engine++);
      if (!own) return own.error();
      host.engines.push_back(std::move(*own));
    }
    plan.processes.push_back(watcher_of(host, machine));
  }
  return plan;
}

/// One watcher for each engine. The hosts get them as if all engines were started together.
Result<std::vector<PlannedProcess>> SshLauncher::plan_more(const LaunchRequest& request, int first,
                                                           int count,
                                                           const Machine& machine) const {
  const Settings& settings = request.settings;
  std::vector<PlannedProcess> processes;
  if (settings.hosts.empty()) return processes;
  std::vector<int> there = share_engines(settings.hosts, first);
  for (int number = first; number < first + count; ++number) {
    const std::vector<int> wanted = share_engines(settings.hosts, number + 1);
    std::size_t i = 0;
    while (i + 1 < there.size() && wanted[i] <= there[i]) ++i;
    ++there[i];
    SshHostPlan host = host_plan(request, machine, settings.hosts[i].host,
                                 static_cast<int>(settings.hosts.size()) + number);
    auto own = engine_command(settings, number);
    if (!own) return own.error();
    host.engines.push_back(std::move(*own));
    processes.push_back(watcher_of(host, machine));
  }
  return processes;
}

}  // namespace px::cluster
