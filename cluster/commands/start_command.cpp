#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "cluster/commands/commands.hpp"
#include "cluster/doctor/doctor_command.hpp"
#include "cluster/launch/installation.hpp"
#include "cluster/launch/profile_store.hpp"
#include "cluster/launch/rank_plans.hpp"
#include "cluster/launch/start_plan.hpp"
#include "cluster/records/hand_started.hpp"
#include "cluster/records/record_file.hpp"
#include "cluster/supervise/supervisor_io.hpp"
#include "os/daemon.hpp"
#include "os/descriptor.hpp"
#include "os/file_lock.hpp"
#include "os/private_file.hpp"
#include "wire/language_plan.hpp"

namespace px::cluster {
namespace {

/// The hosts of the host file, where the user names one.
Result<void> read_hostfile(Settings& settings) {
  if (settings.hostfile.empty()) return {};
  settings.hostfile = std::filesystem::absolute(settings.hostfile).string();
  const auto text = os::read_file(settings.hostfile);
  if (!text) return Error{text.error().kind, "cannot read the host file: " + text.error().what};
  auto hosts = parse_host_file(*text);
  if (!hosts) return Error{ErrorKind::bad_input, settings.hostfile + ", " + hosts.error().what};
  if (hosts->empty()) return Error{ErrorKind::bad_input, settings.hostfile + " lists no host"};
  settings.hosts = std::move(*hosts);
  return {};
}

/// The profile's settings under what the command line says, with both programs found.
Result<LoadedSettings> gather_settings(const net::ProfilePaths& paths,
                                       const StartOptions& options) {
  auto loaded =
      load_settings(paths, {profiles_folder(), options.config_file, options.loads_profile});
  if (!loaded) return loaded.error();
  Settings& settings = loaded->settings;
  std::string members = options.settings_text;
  if (members == "-") members.assign(std::istreambuf_iterator<char>(std::cin), {});
  if (auto done = apply_settings_text(settings, members); !done) return done.error();
  if (auto done = apply_profile(settings, options.settings, "the command line"); !done)
    return done.error();
  settings.controller_args.insert(settings.controller_args.end(), options.controller_args.begin(),
                                  options.controller_args.end());
  if (auto done = read_hostfile(settings); !done) return done.error();
  if (!settings.batch_template_file.empty()) {
    const auto text = os::read_file(settings.batch_template_file);
    if (!text)
      return Error{text.error().kind, "cannot read the batch template: " + text.error().what};
    settings.batch_template = *text;
  }
  if (settings.controller_cmd.empty() && !options.engines_only) {
    const auto program = find_own_program("pxcontroller", "--controller-cmd");
    if (!program) return program.error();
    settings.controller_cmd = {*program};
  }
  if (settings.engine_cmd.empty()) {
    const auto program = find_own_program("pxengine", "--engine-cmd");
    if (!program) return program.error();
    settings.engine_cmd = {*program};
  }
  return loaded;
}

void remove_old_logs(const net::ProfilePaths& paths) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(paths.log(), error))
    if (is_log_of_cluster(entry.path().filename().string(), paths.cluster_id)) {
      std::error_code failure;
      std::filesystem::remove(entry.path(), failure);
    }
}

/// For a start from a notebook while the cluster runs: its first cell was run again, and its later
/// cells use the running cluster.
/// wanted  the number of engines that the user asked for.
int use_what_is_there(const net::ProfilePaths& paths, int engine_count,
                      const std::optional<int>& wanted, Console& console) {
  const std::string engines =
      std::to_string(engine_count) + (engine_count == 1 ? " engine" : " engines");
  console.say(Level::info, called(paths) + " is already running with " + engines + ": using it");
  if (wanted && *wanted != engine_count)
    console.say(Level::warning, "it has " + engines + ", not " + std::to_string(*wanted) +
                                    ": end it with %pxcluster stop and start it again, or add "
                                    "engines with %pxcluster engines -n 1");
  return 0;
}

/// Looks for a running cluster of the same name. Returns the exit code if the command ends here: 0
/// in a notebook, which uses the running cluster, else exit_already_running. Nothing: start it.
/// wanted  the number of engines that the user asked for.
std::optional<int> check_what_is_there(const net::ProfilePaths& paths, const StartOptions& options,
                                       const std::optional<int>& wanted, Console& console) {
  os::LocalProcesses processes;
  const auto found = load_cluster(paths, processes);
  if (const auto who = runs_elsewhere(paths, found))
    return fail(
        console,
        Error{ErrorKind::overloaded,
              "the cluster is already running (" + paths.cluster_file().string() + "): " + *who +
                  " supervises it: stop it there with `pxcluster stop`; if that "
                  "host is gone, remove its files with `pxcluster clean --force`"},
        exit_already_running);
  const auto asks_nobody = [](const ClientConnectionInfo&) { return std::nullopt; };
  if (const auto by_hand = hand_started_beside(paths, found, processes, asks_nobody))
    return fail(console,
                Error{ErrorKind::overloaded,
                      "the cluster is already running: its controller, process " +
                          std::to_string(by_hand->process->pid) +
                          ", was started by hand: stop it with `pxcluster stop`, or add engines "
                          "with `pxcluster engines`"},
                exit_already_running);
  if (!found) {
    if (found.error().kind == ErrorKind::bad_input)
      console.say(Level::warning, found.error().what + "; replacing it");
    return std::nullopt;
  }
  if (found->living.is_empty()) {
    console.say(Level::info, "an earlier cluster crashed or was killed: replacing its " +
                                 paths.cluster_file().filename().string());
    return std::nullopt;
  }
  if (!options.notebook.empty() && found->living.controller)
    return use_what_is_there(paths, found->living.engine_count(), wanted, console);
  return fail(console,
              Error{ErrorKind::overloaded, "the cluster is already running (" +
                                               paths.cluster_file().string() +
                                               "): stop it with `pxcluster stop`"},
              exit_already_running);
}

/// One start: all that its steps share.
class Start {
 public:
  Start(const program::ProgramOptions& program, const StartOptions& options, Console& console)
      : program_(program), options_(options), console_(console) {}

  int run() {
    const auto paths = net::find_profile(program_.profile);
    if (!paths) return fail(console_, paths.error());
    paths_ = *paths;
    if (auto done = program::enter_work_dir(program_); !done) return fail(console_, done.error());
    if (options_.engines_only) {
      const auto files = read_connection_files(paths_);
      if (!files)
        return fail(
            console_,
            Error{files.error().kind,
                  "no controller is running to which engines can be added: " + files.error().what},
            exit_no_controller);
      engine_info_ = files->engine_text;
    } else if (auto done = net::create_profile_folders(paths_); !done) {
      return fail(console_, done.error());
    }
    auto loaded = gather_settings(paths_, options_);
    if (!loaded) return fail(console_, loaded.error());
    settings_ = std::move(loaded->settings);
    auto checkpoints = plan_checkpoints(options_.checkpoint, paths_, settings_.engines);
    if (!checkpoints)
      return fail(console_, checkpoints.error(),
                  checkpoints.error().kind == ErrorKind::bad_input ? 2 : 1);
    checkpoints_ = std::move(*checkpoints);
    for (const std::string& note : loaded->notes) console_.say(Level::info, note);
    if (!options_.engines_only)
      if (const auto code = check_what_is_there(paths_, options_, settings_.n, console_))
        return *code;
    if (options_.is_daemon)
      if (const auto code = daemon_.fork()) return *code;
    return supervise();
  }

 private:
  /// From here on in the process that stays.
  int supervise() {
    std::optional<os::FileLock> lock;
    if (!options_.engines_only) {
      auto taken = os::FileLock::take(paths_.cluster_lock_file());
      if (!taken && taken.error().kind == ErrorKind::overloaded)
        return fail(console_,
                    Error{ErrorKind::overloaded, "the cluster is already running: " +
                                                     taken.error().what + " supervises it"},
                    exit_already_running);
      if (!taken) return fail(console_, taken.error());
      lock.emplace(std::move(*taken));
      // A cluster that was killed has left its file; under the lock no other process writes one.
      std::error_code error;
      std::filesystem::remove(paths_.cluster_file(), error);
      if (options_.clean_logs) remove_old_logs(paths_);
    }
    if (options_.is_daemon) {
      program::ProgramOptions to_file = program_;
      to_file.log_to_file = true;
      if (auto done = program::start_log("pxcluster", to_file, paths_); !done)
        return fail(console_, done.error());
    }
    if (auto reachable = check_reachable(); !reachable) return fail(console_, reachable.error());
    const Machine machine = this_machine();
    for (const std::string& name : variables_of_one_rank(machine)) ::unsetenv(name.c_str());
    const Result<int> engine_count = choose_engine_count(settings_, machine.cores);
    if (!engine_count) return fail(console_, engine_count.error());
    const LaunchRequest request = launch_request(*engine_count);
    auto plan = make_start_plan(request, options_.engines_only, machine);
    if (!plan) return fail(console_, plan.error());
    plan->plan_more = [request, machine](int first, int count) {
      return plan_more_engines(request, first, count, machine);
    };
    plan->engine_info = engine_info_;
    plan->owner = owner();
    const bool keeps_files = plan->keeps_files;
    const std::string set_id = plan->engine_set_id;
    Supervisor supervisor{std::move(*plan)};
    SupervisorIo io{{.paths = paths_,
                     .engine_set_id = set_id,
                     .owns_controller = !options_.engines_only,
                     .accepts_old_files = keeps_files,
                     .owner = options_.owner,
                     .cluster = options_.engines_only ? supervisor_of_cluster() : 0,
                     .checkpoint = checkpoints_,
                     .on_ready = [this](int) { report_ready(); }},
                    console_};
    const int code = px::cluster::run(supervisor, io);
    if (code != 0 && !was_ready_)
      explain_failed_start(settings_.engines == "mpi", has_python(*engine_count),
                           settings_.engines == "mpi" ? settings_.mpi_cmd.front() : "",
                           settings_.engine_cmd, paths_.root, console_);
    return code;
  }

  bool has_python(int engine_count) const {
    const Result<LanguagePlan> plan = LanguagePlan::parse(settings_.language);
    for (int i = 0; plan && i < engine_count; ++i)
      if (const Result<Language> language = plan->of(i); !language || *language == Language::python)
        return true;
    return !plan || engine_count == 0;
  }

  /// Engines on other hosts cannot reach a controller that listens on loopback only.
  Result<void> check_reachable() const {
    if (!options_.engines_only || !listens_on_loopback_only(engine_info_)) return {};
    const auto launcher = find_launcher(settings_.engines);
    LaunchRequest request;
    request.settings = settings_;
    if (!launcher || !(*launcher)->is_remote(request)) return {};
    return Error{ErrorKind::bad_input,
                 "the controller listens on loopback only, where engines on other hosts cannot "
                 "reach it: start it with `pxcluster start --ip='*'`, or with --engines=ssh add "
                 "--tunnel"};
  }

  /// Who is to stand as the owner in the cluster file: on a terminal this process, which ends with
  /// it.
  int owner() const {
    if (options_.owner > 0) return options_.owner;
    const bool has_terminal = os::Descriptor{::open("/dev/tty", O_RDWR | O_CLOEXEC)}.is_open();
    return has_terminal && !options_.is_daemon ? ::getpid() : 0;
  }

  /// The pxcluster of the controller to which engines are added, where it runs on this host.
  int supervisor_of_cluster() const {
    os::LocalProcesses processes;
    const auto found = load_cluster(paths_, processes);
    if (!found || !found->living.controller) return 0;
    const RecordedProcess& controller = *found->living.controller;
    return controller.supervisor > 0 && is_same_process(controller.supervising_process(), processes)
               ? controller.supervisor
               : controller.pid;
  }

  LaunchRequest launch_request(int engine_count) const {
    LaunchRequest request;
    request.settings = settings_;
    request.paths = paths_;
    request.engine_count = engine_count;
    request.rank_ports = choose_rank_ports();
    os::LocalProcesses processes;
    const auto found = load_cluster(paths_, processes);
    const auto now =
        std::chrono::duration_cast<std::chrono::seconds>(wall_now().time_since_epoch());
    request.engine_set_id =
        new_engine_set_id(now.count(), found ? found->living.engine_sets
                                             : std::map<std::string, RecordedEngineSet>{});
    return request;
  }

  void report_ready() {
    was_ready_ = true;
    const auto folder = net::find_ipython_dir({});  // where a client looks, without our options
    const bool is_default = folder && paths_.root.parent_path() == *folder &&
                            paths_.root.filename().string().starts_with("profile_");
    if (!options_.engines_only)
      console_.say(Level::info, options_.notebook.empty()
                                    ? how_to_connect(paths_, is_default, options_.is_daemon)
                                    : how_to_connect_cells(paths_, is_default, options_.notebook));
    else
      console_.say(Level::info, options_.is_daemon
                                    ? "they end with the cluster"
                                    : "they end with Ctrl-C here, or with the cluster");
    if (!options_.is_daemon) return;
    console_.detach();
    daemon_.ready();
  }

  const program::ProgramOptions& program_;
  const StartOptions& options_;
  Console& console_;
  net::ProfilePaths paths_;
  Settings settings_;
  std::string engine_info_;
  CheckpointPlan checkpoints_;
  os::Daemon daemon_;
  bool was_ready_ = false;
};

}  // namespace

int run_command(const program::ProgramOptions& program, const StartOptions& options,
                Console& console) {
  return Start{program, options, console}.run();
}

}  // namespace px::cluster
