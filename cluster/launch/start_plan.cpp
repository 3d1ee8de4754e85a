#include "cluster/launch/start_plan.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "program/gpu_share.hpp"
#include "wire/language_plan.hpp"

namespace px::cluster {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string python_arguments(const net::ProfilePaths& paths, bool is_default_folder) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    text += (text.empty() ? "" : ", ") + name + "=\"" + value + "\"";
  };
  if (!is_default_folder)
    add("profile_dir", paths.root.string());
  else if (paths.profile_name() != "default")
    add("profile", paths.profile_name());
  if (!paths.cluster_id.empty()) add("cluster_id", paths.cluster_id);
  return text;
}

std::string command_arguments(const net::ProfilePaths& paths, bool is_default_folder) {
  std::string text;
  if (!is_default_folder)
    text += " --profile-dir=" + paths.root.string();
  else if (paths.profile_name() != "default")
    text += " --profile=" + paths.profile_name();
  if (!paths.cluster_id.empty()) text += " --cluster-id=" + paths.cluster_id;
  return text;
}

/// Whether it can take the place of one that died, which only ours is known to be able to.
bool is_own_controller(const std::vector<std::string>& command) {
  return command.size() == 1 && std::filesystem::path(command.front()).filename() == "pxcontroller";
}

/// Whether the GPUs of this host are enough for its engines; a note says where they share them.
Result<void> check_gpus_here(EnginePlan& engines, const Settings& settings,
                             const Machine& machine) {
  if (engines.count_here == 0 || !machine.variable) return {};
  const auto share =
      program::share_gpus(machine.variable, machine.gpus, settings.gpus, 0, engines.count_here);
  if (!share) return share.error();
  if (!share->warning.empty()) engines.notes.push_back(share->warning);
  return {};
}

void set_threads(Settings& settings) {
  if (!settings.threads_per_engine.empty())
    settings.environment["POLYXEUS_THREADS_PER_ENGINE"] = settings.threads_per_engine;
}

/// Whether single engines of this launcher can be started again.
Result<void> check_respawn(const Settings& settings, std::string_view launcher) {
  if (!settings.respawn || launcher == "local" || launcher == "ssh") return {};
  return Error{
      ErrorKind::unsupported,
      launcher == "mpi"
          ? "--respawn cannot start single ranks of an MPI world again, because they start "
            "together: leave it out, and start a new world after a death with `pxcluster "
            "restart`"
          : "--respawn cannot start single engines of a job of " + std::string(launcher) +
                " again: leave it out, or let the batch system run the job again"};
}

}  // namespace

Result<int> choose_engine_count(const Settings& settings, int cores) {
  if (!settings.hosts.empty()) cores = count_slots(settings.hosts);
  if (settings.language.empty()) return settings.n.value_or(cores);
  const Result<LanguagePlan> plan = LanguagePlan::parse(settings.language);
  if (!plan) return plan.error();
  const int count = settings.n.value_or(plan->count().value_or(cores));
  if (auto fits = plan->check_count(count); !fits) return fits.error();
  return count;
}

Result<std::vector<PlannedProcess>> plan_more_engines(const LaunchRequest& asked, int first,
                                                      int count, const Machine& machine) {
  LaunchRequest request = asked;
  set_threads(request.settings);
  const auto launcher = find_launcher(request.settings.engines);
  if (!launcher) return launcher.error();
  return (*launcher)->plan_more(request, first, count, machine);
}

Result<StartPlan> make_start_plan(const LaunchRequest& asked, bool engines_only,
                                  const Machine& machine) {
  LaunchRequest request = asked;
  Settings& settings = request.settings;
  set_threads(settings);
  StartPlan plan;
  const auto engine_launcher = find_launcher(settings.engines);
  if (!engine_launcher) return engine_launcher.error();
  if (settings.tunnel && (*engine_launcher)->name() != "ssh")
    return Error{ErrorKind::bad_input, "--tunnel works with --engines=ssh only"};
  auto engines = (*engine_launcher)->plan_engines(request, machine);
  if (!engines) return engines.error();
  plan.engines = std::move(*engines);
  plan.engines.ranks.ports = request.rank_ports;
  plan.engines.ranks.gpus = settings.gpus;
  if (auto checked = check_gpus_here(plan.engines, settings, machine); !checked)
    return checked.error();
  plan.started_by = (*engine_launcher)->name();
  if (auto can = check_respawn(settings, plan.started_by); !can) return can.error();
  plan.respawn_limit = settings.respawn ? settings.respawn_limit : 0;
  plan.record.engine_launcher = (*engine_launcher)->recorded_name();
  if (!engines_only && settings.ip.empty() && (*engine_launcher)->is_remote(request)) {
    settings.ip = "*";
    plan.engines.notes.push_back(
        "the engines run on other hosts, so the controller listens on all addresses (--ip='*'); "
        "--ip=ADDRESS chooses one");
  }
  if (!engines_only) {
    const auto launcher = find_launcher(settings.controller);
    if (!launcher) return launcher.error();
    auto controller = (*launcher)->plan_controller(request, machine);
    if (!controller) return controller.error();
    plan.controller = std::move(*controller);
    if ((*launcher)->name() == "local" && is_own_controller(settings.controller_cmd)) {
      plan.controller->command.argv.push_back("--restartable");
      plan.takes_over = {"--restore"};
    }
    plan.record.controller_launcher = (*launcher)->recorded_name();
  }
  if (plan.engines.patience) plan.patience = *plan.engines.patience;
  plan.engine_set_id = request.engine_set_id;
  plan.supervisor = machine.pid;
  plan.client_file = request.paths.client_file().string();
  plan.keeps_files = keeps_connection_files(settings.controller_args);
  plan.delay = duration_of(settings.delay);
  plan.engine_timeout = duration_of(settings.engine_timeout.value_or(60 + request.engine_count));
  plan.record.cluster_id = request.paths.cluster_id;
  plan.record.profile_dir = request.paths.root.string();
  plan.record.controller_args = settings.controller_args;
  plan.record.controller_ip = settings.ip;
  plan.record.controller_location = settings.location;
  plan.record.delay = settings.delay;
  plan.record.n = request.engine_count;
  return plan;
}

bool keeps_connection_files(const std::vector<std::string>& controller_args) {
  return std::any_of(controller_args.begin(), controller_args.end(), [](const std::string& text) {
    return text == "--reuse" || text == "--restore" || text == "--IPController.reuse_files=True" ||
           text == "--IPController.restore_engines=True";
  });
}

bool listens_on_loopback_only(std::string_view engine_info) {
  const auto info = unpack(Packer::json, engine_info);
  if (!info || !string_member(*info, "ssh").value_or("").empty()) return false;
  const std::string interface = string_member(*info, "interface").value_or("");
  for (const char* loopback : {"tcp://127.", "tcp://localhost", "tcp://[::1]"})
    if (interface.starts_with(loopback)) return true;
  return false;
}

std::string new_engine_set_id(long long unix_seconds,
                              const std::map<std::string, RecordedEngineSet>& taken) {
  const std::string base = std::to_string(unix_seconds);
  std::string id = base;
  for (int i = 1; taken.contains(id); ++i) id = base + "-" + std::to_string(i);
  return id;
}

std::string how_to_connect(const net::ProfilePaths& paths, bool is_default_folder, bool is_daemon) {
  return std::string("connect from Python:\n") + "    import polyxeus as px\n" +
         "    client = px.Client(" + python_arguments(paths, is_default_folder) + ")\n" +
         "  stop it with " + (is_daemon ? "" : "Ctrl-C, or elsewhere with ") + "pxcluster stop" +
         command_arguments(paths, is_default_folder);
}

std::string how_to_connect_cells(const net::ProfilePaths& paths, bool is_default_folder,
                                 const std::string& language) {
  // What the magics have no option for can still be given to a Client.
  if (!is_default_folder && language == "python") return how_to_connect(paths, false, true);
  const std::string other = command_arguments(paths, is_default_folder);
  std::string text =
      "in your cells:\n    %px CODE, or a cell that begins with %%px, runs on the "
      "engines\n";
  text +=
      language == "cpp"
          ? "    view.execute(\"int x = 1;\"), view.push(\"y\", 2.0), view.pull<double>(\"y\")\n"
          : "    `rc` is the client and `view` a view of all engines: view.apply_sync(f), "
            "view['x'] = 1\n";
  if (!other.empty()) text += "    if they use another cluster: %pxconfig" + other + "\n";
  return text + "  stop it with %pxcluster stop" + other;
}

bool is_log_of_cluster(std::string_view name, std::string_view cluster_id) {
  if (!name.ends_with(".log")) return false;
  name.remove_suffix(4);
  const std::string infix = cluster_id.empty() ? "-" : "-" + std::string(cluster_id) + "-";
  const std::string local_engines = "ipengine-" + std::string(cluster_id) + "-";
  // ipcontroller[-<id>]-<pid>, ipengine[-<id>]-<set>-<pid>, ipengine-<id>-<set>-<i> and
  // pxcluster-<id>-<pid>; a set is <seconds> or <seconds>-<k>. Behind the id stand numbers only.
  const std::string daemon = "pxcluster-" + std::string(cluster_id) + "-";
  for (const std::string& begin :
       {"ipcontroller" + infix, "ipengine" + infix, local_engines, daemon}) {
    if (!name.starts_with(begin)) continue;
    std::string rest(name.substr(begin.size()));
    std::erase(rest, '-');
    if (is_number(rest)) return true;
  }
  return false;
}

}  // namespace px::cluster
