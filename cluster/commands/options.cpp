#include "cluster/commands/options.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <regex>
#include <utility>

#include "cluster/commands/event_lines.hpp"
#include "cluster/launch/launcher.hpp"
#include "cluster/launch/settings.hpp"
#include "os/command_words.hpp"
#include "os/process_end.hpp"
#include "program/command_line.hpp"
#include "program/completion.hpp"
#include "program/man_page.hpp"
#include "program/thread_share.hpp"
#include "program/value_checks.hpp"

namespace px::cluster {
namespace {

std::string check_launcher(const std::string& text) {
  const auto launcher = find_launcher(text);
  return launcher ? "" : launcher.error().what;
}

std::string check_signal(const std::string& text) {
  const auto signal = signal_by_name(text);
  return signal ? "" : "takes the name or number of a signal, e.g. TERM or 15, not '" + text + "'";
}

std::string check_gpus(const std::string& text) {
  Settings settings;
  const bool is_right = apply_profile(settings, {{"gpus", text}}, "").has_value();
  return is_right ? "" : "takes auto, none or a number of GPUs, not '" + text + "'";
}

std::string check_threads(const std::string& text) {
  return program::is_thread_wish(text)
             ? ""
             : "takes auto, unchanged or a number of threads, not '" + text + "'";
}

std::string check_regexp(const std::string& text) try {
  const std::regex regexp(text);
  return "";
} catch (const std::regex_error& error) {
  return "takes a regular expression, not '" + text + "': " + error.what();
}

/// Options that go into the settings as the members of a profile do.
class SettingOptions {
 public:
  SettingOptions(CLI::App& app, Json& settings) : app_(app), settings_(settings) {}

  CLI::Option* text(const std::string& names, const std::string& key, const std::string& help) {
    return app_.add_option_function<std::string>(
        names, [this, key](const std::string& value) { settings_[key] = value; }, help);
  }
  void words(const std::string& names, const char* key, const std::string& help) {
    app_.add_option_function<std::string>(
            names,
            [this, key](const std::string& value) {
              settings_[key] = os::split_words(value).words;
            },
            help)
        ->check(program::shell_words());
  }
  /// Each time it is given it adds a line.
  void lines(const std::string& names, const char* key, const std::string& help) {
    app_.add_option_function<std::vector<std::string>>(
            names, [this, key](const std::vector<std::string>& value) { settings_[key] = value; },
            help)
        ->allow_extra_args(false);
  }
  void flag(const std::string& names, const char* key, const std::string& help) {
    app_.add_flag_function(
        names, [this, key](std::int64_t count) { settings_[key] = count > 0; }, help);
  }
  void seconds(const std::string& names, const char* key, const std::string& help) {
    app_.add_option_function<double>(
            names, [this, key](double value) { settings_[key] = value; }, help)
        ->check(program::number_of("seconds"));
  }
  void engine_count() {
    app_.add_option_function<int>(
            "-n,--n,--Cluster.n", [this](int value) { settings_["n"] = value; },
            "Number of engines (default: one for each core)")
        ->check(program::whole_number(" of engines", 0, max_engines));
  }

 private:
  CLI::App& app_;
  Json& settings_;
};

/// Everything that parsing fills in; outlives the parse.
struct ParsedOptions {
  program::ProgramOptions program;
  StartOptions start, engines;
  StopOptions stop;
  RestartOptions restart;
  ScaleOptions scale;
  ListOptions list;
  CleanOptions clean;
  ProfileListOptions profiles;
  ProfileCreateOptions create;
  StatusOptions status;
  WhereOptions where;
  TraceOptions trace;
  TopCommandOptions top;
  StacksOptions stacks;
  JobsOptions jobs;
  McpOptions mcp;
  DebugOptions debug;
  PxOptions px;
  PushOptions push;
  PullOptions pull;
  LogsOptions logs;
  EventsOptions events;
  WatchOptions watch;
  DoctorOptions doctor;
  CheckpointCreateOptions checkpoint;
  CheckpointRestoreOptions restore;
  CheckpointListOptions checkpoints;
  CheckpointShowOptions shown;
  ShowDashboardOptions dashboard;
  std::vector<SettingOptions> settings;
  std::string output_format = "text";  ///< Of list: -o, --output
  /// Each command, and what enters into the result what was parsed for it.
  std::vector<std::pair<const CLI::App*, std::function<void(ClusterOptions&)>>> commands;

  /// Adds a command that is parsed into `part`, a member.
  template <class Part, class AddOptions = decltype([](CLI::App&, Part&) {})>
  CLI::App& add(CLI::App& parent, const char* name, const char* help, Part& part,
                AddOptions add_options = {}) {
    CLI::App& command = *parent.add_subcommand(name, help);
    program::add_program_options(command, program);
    commands.emplace_back(&command, [&part](ClusterOptions& options) {
      options.command = part;
      if constexpr (requires { part.as_json; }) options.as_json = part.as_json;
    });
    add_options(command, part);
    return command;
  }
};

/// "--queue,--BatchSystemLauncher.queue,--SlurmLauncher.queue,...": ipcluster's names.
std::string batch_option(const std::string& own, const std::string& trait) {
  std::string names = own;
  for (const char* system : {"BatchSystem", "Slurm", "PBS", "SGE", "LSF", "HTCondor"})
    for (const char* end : {"Launcher.", "EngineSetLauncher."})
      names += std::string(",--") + system + end + trait;
  return names;
}

std::string ssh_option(const std::string& own, const std::string& trait) {
  return own + ",--SSHLauncher." + trait + ",--SSHEngineLauncher." + trait +
         ",--SSHEngineSetLauncher." + trait;
}

void add_remote_options(SettingOptions& settings) {
  settings.text(ssh_option("--hosts", "engines"), "hosts",
                "Hosts and numbers of engines for ssh or mpiexec: host2:4,host3:2");
  settings.text("--hostfile", "hostfile", "File with the hosts, in mpiexec's format");
  settings.lines(
      "--engine-env", "engine_env",
      "Shell line to run before the engines, e.g. 'module load x' or 'source script'; may be "
      "given more than once");
  settings.words("--remote-engine-cmd", "remote_engine_cmd",
                 "Command of the engine on other hosts (default: the command of this host)");
  settings.text(ssh_option("--remote-python", "remote_python"), "remote_python",
                "Python of the engines on other hosts");
  settings.text(ssh_option("--remote-profile-dir", "remote_profile_dir"), "remote_profile_dir",
                "Profile folder on other hosts (default: the same path below the home folder)");
  settings.flag("--tunnel,!--no-tunnel", "tunnel",
                "With --engines=ssh: connect engines to the controller through the ssh connection "
                "that starts them; for hosts that cannot connect to this host");
  settings.words(ssh_option("--ssh-cmd", "ssh_cmd"), "ssh_cmd", "Command to use instead of ssh");
  settings.words(ssh_option("--ssh-args", "ssh_args"), "ssh_args",
                 "Arguments for ssh, in one string");
}

void add_batch_options(SettingOptions& settings) {
  settings.text(batch_option("--queue,--partition", "queue"), "queue",
                "The batch system's queue; Slurm's partition");
  settings.text(batch_option("--account", "account"), "account", "Account to charge for the job");
  settings.text(batch_option("--qos", "qos"), "qos", "Slurm's quality of service");
  settings.text(batch_option("--time,--timelimit", "timelimit"), "timelimit",
                "Time limit of the job, in the batch system's format");
  settings.lines(
      batch_option("--batch-option", "options"), "batch_options",
      "Further option for the batch system, e.g. '--mem=4G'; may be given more than once");
  settings.text(
      batch_option("--batch-template-file", "batch_template_file"), "batch_template_file",
      "File with your own job script, with the placeholders {n}, {queue}, {program_and_args} ...");
  settings.words(batch_option("--submit-command", "submit_command"), "submit_command",
                 "Command to use instead of sbatch, qsub ...");
  settings.words(batch_option("--delete-command", "delete_command"), "delete_command",
                 "Command to use instead of scancel, qdel ...");
  settings
      .text(batch_option("--job-id-regexp", "job_id_regexp"), "job_id_regexp",
            "Regular expression that finds the job id in the submit command's output")
      ->check(&check_regexp);
  settings.text("--mpi-type", "mpi_type", "Value of srun's option --mpi: pmix, pmi2 or none");
  settings.words("--srun-args", "srun_args", "Arguments for srun, in one string");
}

void add_engine_options(CLI::App& app, StartOptions& options, SettingOptions& settings) {
  settings.engine_count();
  settings
      .text("--engines,--Cluster.engine_launcher_class", "engines",
            "How to start the engines: local, mpi, ssh, slurm, pbs, sge, lsf or htcondor")
      ->check(&check_launcher);
  settings
      .text("--language", "language",
            "Language of the engines: python (default), cpp, or both, e.g. python:2,cpp:2")
      ->check(program::language_plan());
  settings
      .text("--gpus", "gpus",
            "GPUs that each engine sees: auto (default: one GPU if its host has one for each "
            "engine, else all GPUs), a number of GPUs, or none (all GPUs)")
      ->check(&check_gpus);
  settings
      .text("--threads-per-engine", "threads_per_engine",
            "Threads of OpenMP, BLAS, MKL and Numba in each engine: auto (default: the number of "
            "cores of its host, divided by the number of engines on this host, unless "
            "OMP_NUM_THREADS is set), a number, or unchanged (nothing is set)")
      ->check(&check_threads);
  settings.flag("--respawn,!--no-respawn", "respawn",
                "Restart engines that die, with the same ids, and with the variables of the last "
                "checkpoint if there is one (local and ssh)");
  app.add_option_function<int>(
         "--respawn-limit", [&options](int count) { options.settings["respawn_limit"] = count; },
         "With --respawn: largest number of restarts within a minute (default: 10)")
      ->check(program::whole_number(" of engines", 1, max_respawn_limit));
  settings.words("--engine-cmd,--EngineLauncher.engine_cmd", "engine_cmd",
                 "Command of the engine (default: pxengine in the folder of this program)");
  settings.words("--engine-args,--EngineLauncher.engine_args", "engine_args",
                 "Arguments for each engine, in one string");
  settings.words("--mpi-cmd,--MPILauncher.mpi_cmd", "mpi_cmd", "Command to use instead of mpiexec");
  settings.words("--mpi-args,--MPILauncher.mpi_args", "mpi_args",
                 "Arguments for mpiexec, in one string");
  add_remote_options(settings);
  add_batch_options(settings);
  settings.seconds("--engine-timeout,--Cluster.engine_timeout", "engine_timeout",
                   "Seconds after which engines that have not registered are reported (default: "
                   "60, plus 1 for each engine)");
  app.add_flag("--daemonize,--IPClusterEngines.daemonize,--IPClusterStart.daemonize",
               options.is_daemon, "Continue in the background when the engines are ready");
  app.add_option("--config", options.config_file,
                 "A configuration file, .json or .py (default: ipcluster_config.py and .json in "
                 "the profile)");
  app.add_flag("--load-profile,--Cluster.load_profile,!--no-load-profile", options.loads_profile,
               "Read the configuration files of the profile (default: true)");
  app.add_option(
      "--settings", options.settings_text,
      "Settings as one JSON object, as in pxcluster.json; they override the files; - reads them "
      "from standard input, so that other users cannot see secrets on the command line");
  app.add_option("--notebook", options.notebook, "")->group("");
  app.add_option("--owner", options.owner,
                 "Pid of a process on this host; when this process ends, everything that this "
                 "command has started ends, too")
      ->check(program::whole_number("", 1, std::numeric_limits<int>::max()));
  add_start_options(app, options.checkpoint);
  app.add_flag("--clean-logs,--IPClusterStart.clean_logs,!--no-clean-logs", options.clean_logs,
               "Remove the old logs of this cluster first (default: true)");
}

void add_controller_options(SettingOptions& settings) {
  settings
      .text("--controller,--Cluster.controller_launcher_class", "controller",
            "How to start the controller: local, mpi or a batch system, e.g. slurm")
      ->check(&check_launcher);
  settings.words("--controller-cmd,--ControllerLauncher.controller_cmd", "controller_cmd",
                 "Command of the controller (default: pxcontroller in the folder of this program)");
  settings
      .text("--ip,--Cluster.controller_ip", "ip",
            "Address at which the controller listens (default: 127.0.0.1; *: all addresses)")
      ->check(program::own_addresses());
  settings
      .text("--journal", "journal",
            "Failures that unfinished tasks survive: off: none; process (default if the "
            "controller is on this host): the end of the controller; power: also a power failure")
      ->check(program::one_of({"off", "process", "power"}));
  settings
      .text("--location,--Cluster.controller_location", "location",
            "Name or address by which other hosts reach the controller's host")
      ->check(program::host());
  settings.seconds(
      "--delay,--Cluster.delay", "delay",
      "Seconds to wait between the start of the controller and of the engines (default: 0)");
}

void add_start(CLI::App& app, ParsedOptions& parts) {
  CLI::App& start = parts.add(app, "start",
                              "Start a controller and engines, and supervise them; arguments after "
                              "-- are passed to the controller",
                              parts.start);
  parts.settings.emplace_back(start, parts.start.settings);
  add_engine_options(start, parts.start, parts.settings.back());
  add_controller_options(parts.settings.back());

  CLI::App& engines =
      parts.add(app, "engines", "Start engines for a running controller", parts.engines);
  parts.engines.engines_only = true;
  parts.settings.emplace_back(engines, parts.engines.settings);
  add_engine_options(engines, parts.engines, parts.settings.back());
}

void add_stop(CLI::App& app, ParsedOptions& parts) {
  CLI::App& stop = parts.add(app, "stop",
                             "Stop a cluster and wait until it has ended; also works if "
                             "pxcontroller was started by hand on this host",
                             parts.stop);
  stop.add_option("ids", parts.stop.cluster_ids, "Cluster ids (default: --cluster-id)");
  stop.add_flag("--all,--IPClusterStop.all_cluster_ids", parts.stop.all,
                "Stop all clusters of the profile");
  stop.add_option("--signal,--IPClusterStop.signal", parts.stop.signal,
                  "The first signal to send (default: TERM)")
      ->check(&check_signal);
}

void add_restart(CLI::App& app, ParsedOptions& parts) {
  CLI::App& restart = parts.add(app, "restart",
                                "End engines, also those that hang, and start them again with the "
                                "same ids; also starts engines that have died",
                                parts.restart);
  CLI::Option* const targets = add_targets(restart, parts.restart.targets);
  targets->description("Restart only these engines: 2, 0:4, 0,2,5:8 (default: all)");
  restart
      .add_option(
          "--engine-set", parts.restart.engine_set,
          "Restart only the engines of this set (`pxcluster list --json` shows the ids of sets)")
      ->excludes(targets);
  CLI::Option* const keep = restart
                                .add_option_function<std::string>(
                                    "--keep",
                                    [&parts](const std::string& text) {
                                      parts.restart.keep.names = program::split_at_commas(text);
                                    },
                                    "Variables to carry over to the new engines: a,b; with "
                                    "--targets, an engine that has died gets each variable from "
                                    "the running engine with the lowest id that has this variable")
                                ->check(program::variable_names());
  restart
      .add_flag("--keep-all", parts.restart.keep.has_all,
                "Carry over all variables that can be carried over")
      ->excludes(keep);
  restart.add_flag("--json", parts.restart.as_json,
                   "Print as JSON which variables the engines have kept and lost");
}

void add_scale(CLI::App& app, ParsedOptions& parts) {
  CLI::App& scale = parts.add(app, "scale",
                              "Adapt the number of engines to the number of balanced tasks, e.g. "
                              "scale 0 8; without numbers: show the settings",
                              parts.scale);
  const auto number = program::whole_number(" of engines", 0, max_engines);
  CLI::Option* const least =
      scale.add_option("min", parts.scale.least, "The smallest number of engines");
  least->check(number);
  scale.add_option("max", parts.scale.most, "The largest number of engines")->check(number);
  scale
      .add_option_function<std::string>(
          "--idle",
          [&parts](const std::string& text) { parts.scale.idle_s = program::read_seconds(text); },
          "End an engine after this time without work: 30s (default), 10m")
      ->check([](const std::string& text) {
        return program::read_seconds(text)
                   ? ""
                   : "takes a duration such as 30s or 10m, not '" + text + "'";
      });
  scale
      .add_flag("--off", parts.scale.is_off,
                "Stop scaling: keep the number of engines as it is now")
      ->excludes(least);
  scale.add_flag("--json", parts.scale.as_json, "Print the settings as a JSON object");
}

void add_list_and_clean(CLI::App& app, ParsedOptions& parts) {
  CLI::App& list = parts.add(
      app, "list",
      "List the running clusters of all profiles, including controllers that were started by hand",
      parts.list);
  list.add_flag("--json", parts.list.as_json, "Print the clusters as JSON");
  CLI::Option* const output = list.add_option("-o,--output", parts.output_format);
  output->check(program::one_of({"text", "json"}));
  program::mark_as_old(*output, "--json");
  list.add_option("--IPClusterList.output_format", parts.output_format)
      ->check(program::one_of({"text", "json"}))
      ->group("");
  CLI::App& clean = parts.add(
      app, "clean", "Remove the logs and files of clusters that are not running", parts.clean);
  clean.add_flag("--force,--IPClusterClean.force", parts.clean.force,
                 "Stop running clusters first");
  clean.add_flag("--all-profiles,--IPClusterClean.all_profiles", parts.clean.all_profiles,
                 "Also remove the logs and files of all other profiles");
  program::mark_as_old(*clean.add_flag("--all", parts.clean.all_profiles), "--all-profiles");
}

void add_logs(CLI::App& app, ParsedOptions& parts) {
  CLI::App& logs = parts.add(
      app, "logs", "Show the logs of controller and engines, also from other hosts", parts.logs);
  logs.add_option("--engine", parts.logs.engine,
                  "Show only this log: an engine number, controller, or a host");
  logs.add_option("--lines", parts.logs.lines, "Number of last lines to show (default: 20)")
      ->check(program::whole_number(" of lines", 0, 1000000));
  logs.add_flag("-f,--follow", parts.logs.follow, "Keep showing new lines");
}

void add_events(CLI::App& app, ParsedOptions& parts) {
  CLI::App& events = parts.add(
      app, "events",
      "Show the events of the cluster: engines that joined or died, retries, restarts, stops",
      parts.events);
  events
      .add_option("--since", parts.events.since,
                  "Show only events after this time: an age (30s, 10m, 2h, 1d) or a date "
                  "(2026-11-27T10:48:25)")
      ->check([](const std::string& text) {
        const auto since = read_since(text, wall_now());
        return since ? "" : since.error().what;
      });
  events.add_flag(
      "-f,--follow", parts.events.follow,
      "Show the last 10 events, or those of --since, and then new events as they occur");
  events.add_flag("--json", parts.events.as_json, "Print a line with a JSON object for each event");
}

void add_dashboard(CLI::App& app, ParsedOptions& parts) {
  CLI::App& dashboard =
      parts.add(app, "dashboard", "Print the address of the cluster's dashboard, or open it",
                parts.dashboard);
  dashboard.add_option("--file,--url-file", parts.dashboard.connection_file,
                       "The cluster's client connection file (default: the file of the profile)");
  dashboard.add_flag("--open", parts.dashboard.opens,
                     "Also open it in a browser ($BROWSER or xdg-open)");
  dashboard.add_flag("--json", parts.dashboard.as_json, "Print the address as a JSON object");
}

void add_profile(CLI::App& app, ParsedOptions& parts) {
  CLI::App& profile = *app.add_subcommand("profile", "List and create profiles");
  profile.require_subcommand(1);
  CLI::App& list =
      parts.add(profile, "list", "List the profiles and the templates", parts.profiles);
  list.add_flag("--json", parts.profiles.as_json, "Print the list as JSON");
  CLI::App& create = parts.add(profile, "create", "Create a profile from a template", parts.create);
  create.add_option("name", parts.create.name, "Name of the new profile")->required();
  create.add_option("--from", parts.create.from, "Name of the template (default: default)");
}

void add_work(CLI::App& app, ParsedOptions& parts) {
  parts.add(app, "status", "Show the state of each engine and what it runs", parts.status,
            &add_status_options);
  parts.add(app, "where",
            "Show the MPI call or the line of code in which each engine is, and for how long",
            parts.where, &add_where_options);
  parts.add(app, "trace", "Record a trace of the engines for some seconds, for ui.perfetto.dev",
            parts.trace, &add_trace_options);
  parts.add(app, "top",
            "Show a table of the engines every second, until Ctrl-C: calls, queue, memory, CPU",
            parts.top, &add_top_options);
  parts.add(app, "stacks",
            "Show the call stack of each engine, even if it hangs in C code, or take a profile",
            parts.stacks, &add_stacks_options);
  parts.add(app, "jobs",
            "List the calls that have not ended: who submitted them, when, and where they run",
            parts.jobs, &add_jobs_options);
  parts.add(app, "px", "Run code on the engines and show their output", parts.px, &add_px_options);
  parts.add(app, "push", "Send an array or JSON to the engines", parts.push, &add_push_options);
  parts.add(app, "pull", "Get the value of a variable from the engines", parts.pull,
            &add_pull_options);
}

void add_doctor(CLI::App& app, ParsedOptions& parts) {
  parts.add(app, "doctor",
            "Find the problems that keep a cluster from working, and say how to fix them",
            parts.doctor, &add_doctor_options);
}

void add_mcp(CLI::App& app, ParsedOptions& parts) {
  parts.add(app, "mcp",
            "Serve the Model Context Protocol on standard input and output: agents see the "
            "cluster's status, stacks, logs ...",
            parts.mcp, &add_mcp_options);
}

void add_debug(CLI::App& app, ParsedOptions& parts) {
  parts.add(app, "debug",
            "Serve the Debug Adapter Protocol until Ctrl-C: an editor such as VS Code debugs all "
            "engines in one session",
            parts.debug, &add_debug_options);
}

void add_completion(CLI::App& app, std::string& shell) {
  CLI::App& completion = *app.add_subcommand("completion",
                                             "Print a script that makes a shell complete commands "
                                             "and options: source <(pxcluster completion bash)");
  completion.add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(program::one_of({"bash", "zsh", "fish"}));
}

program::Shell shell_named(const std::string& name) {
  if (name == "zsh") return program::Shell::zsh;
  return name == "fish" ? program::Shell::fish : program::Shell::bash;
}

/// The values that shell completion offers after these options.
program::OptionValues values_of_options() {
  return {{"--engines", launcher_names()},
          {"--controller", launcher_names()},
          {"--language", {"python", "cpp"}},
          {"--gpus", {"auto", "none", "1"}},
          {"--threads-per-engine", {"auto", "unchanged", "1"}},
          {"--journal", {"off", "process", "power"}},
          {"--log-level", {"DEBUG", "INFO", "WARNING", "ERROR"}}};
}

/// The words of the command line; `pxcluster help start` becomes `pxcluster start --help`.
std::vector<const char*> with_help_as_option(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (argc < 2 || std::strcmp(argv[1], "help") != 0) return words;
  words.erase(words.begin() + 1);
  words.push_back("--help");
  return words;
}

void add_checkpoint(CLI::App& app, ParsedOptions& parts) {
  CLI::App& checkpoint = *app.add_subcommand(
      "checkpoint", "Write variables of the engines to files, and define them again");
  checkpoint.require_subcommand(1);
  parts.add(checkpoint, "create", "Write variables of the engines to a new checkpoint",
            parts.checkpoint, &add_create_options);
  parts.add(checkpoint, "restore", "Define the variables of the last checkpoint on the engines",
            parts.restore, &add_restore_options);
  parts.add(checkpoint, "list", "List the checkpoints in a folder of this host", parts.checkpoints,
            &add_list_options);
  parts.add(checkpoint, "show", "Show the contents of the last checkpoint in a folder of this host",
            parts.shown, &add_show_options);
}

/// Whether a command's name is among the words.
bool names_command(const char* name, const char* const* begin, const char* const* end) {
  return std::any_of(begin, end, [&](const char* word) { return std::strcmp(word, name) == 0; });
}

/// Whose options are accepted without effect: ipcluster's by the commands that it has, too.
program::IpyparallelProgram peer_of(const char* const* begin, const char* const* end) {
  for (const char* const name : {"start", "engines", "stop", "list", "clean"})
    if (names_command(name, begin, end)) return program::IpyparallelProgram::ipcluster;
  return program::IpyparallelProgram::none;
}

/// Adds those of the words' options that set the traits of ipyparallel's launchers under another of
/// its names, e.g. --MPIEngineSetLauncher.mpi_cmd. All of them are too many to be added each time.
void add_launcher_traits(CLI::App& command, SettingOptions& settings, const char* const* begin,
                         const char* const* end) {
  for (const char* const* word = begin; word != end; ++word) {
    const std::string name = std::string(*word).substr(0, std::string_view(*word).find('='));
    if (!name.starts_with("--") || command.get_option_no_throw(name)) continue;
    const std::string_view key = key_of_trait(std::string_view(name).substr(2));
    if (!key.empty()) settings.text(name, std::string(key), "");
  }
}

std::vector<program::ExitCode> exit_codes() {
  return {{"0", "done"},
          {"1", "the command failed; the last line gives the reason"},
          {"2", "the command line is invalid; the program started nothing"},
          {"10", "start: the cluster is already running"},
          {"11",
           "stop, restart and commands that query a cluster: the cluster is not running or cannot "
           "be reached"},
          {"12", "engines: there is no controller"},
          {"130", "interrupted by Ctrl-C"}};
}

ClusterOptions collect(const CLI::App& app, ParsedOptions& parts) {
  ClusterOptions options;
  options.program = parts.program;
  options.warnings = program::old_spellings(app);
  if (parts.checkpoint.has_bare_minutes)
    options.warnings.push_back(
        "--every without a unit means minutes; write for example --every 10m");
  if (std::string text = program::warning_of_options_without_effect(app); !text.empty())
    options.warnings.push_back(std::move(text));
  if (std::tolower(static_cast<unsigned char>(parts.output_format[0])) == 'j')
    parts.list.as_json = true;
  for (const auto& [command, enter] : parts.commands)
    if (command->parsed()) enter(options);
  if (app.got_subcommand("watch")) options.command = parts.watch;
  return options;
}

}  // namespace

std::variant<ClusterOptions, int> parse_options(int argc, const char* const* argv_of_user) {
  CLI::App app{"Starts, stops and lists clusters, and runs code on them", "pxcluster"};
  ParsedOptions parts;
  parts.settings.reserve(2);  // options keep pointers to them
  program::add_program_options(app, parts.program);
  app.require_subcommand(1);
  add_start(app, parts);
  add_stop(app, parts);
  add_restart(app, parts);
  add_scale(app, parts);
  add_list_and_clean(app, parts);
  add_profile(app, parts);
  add_logs(app, parts);
  add_events(app, parts);
  add_dashboard(app, parts);
  add_work(app, parts);
  add_checkpoint(app, parts);
  add_doctor(app, parts);
  add_mcp(app, parts);
  add_debug(app, parts);
  std::string shell;
  add_completion(app, shell);
  program::add_exit_codes(app, exit_codes());
  app.add_subcommand("watch")->group("")->add_option("kind", parts.watch.kind)->required();
  const std::vector<const char*> words = with_help_as_option(argc, argv_of_user);
  const char* const* const argv = words.data();
  const char* const* const end = argv + words.size();
  const char* const* const mark =
      std::find_if(argv, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
  add_launcher_traits(*app.get_subcommand("start"), parts.settings.front(), argv, mark);
  add_launcher_traits(*app.get_subcommand("engines"), parts.settings.back(), argv, mark);
  const bool has_controller_args = mark != end && names_command("start", argv, mark);
  const auto count = static_cast<int>((has_controller_args ? mark : end) - argv);
  if (const auto code = program::parse_command_line(app, count, argv, {peer_of(argv, mark), {}}))
    return *code;
  if (app.got_subcommand("completion")) {
    std::cout << program::completion_script(app, shell_named(shell), values_of_options());
    return 0;
  }
  if (has_controller_args) parts.start.controller_args.assign(mark + 1, end);
  return collect(app, parts);
}

Level console_threshold(const program::ProgramOptions& options) {
  if (options.is_debug || options.log_level == "DEBUG" || options.log_level == "10")
    return Level::debug;
  if (options.is_quiet) return Level::error;
  if (options.log_level.starts_with("WARN") || options.log_level == "30") return Level::warning;
  if (options.log_level == "ERROR" || options.log_level == "CRITICAL" ||
      options.log_level == "40" || options.log_level == "50")
    return Level::error;
  return Level::info;
}

Result<int> signal_by_name(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (int number = 1; number < NSIG; ++number) {
    const std::string name = os::signal_name(number);
    if (text == std::to_string(number) || text == name || "SIG" + text == name) return number;
  }
  return Error{ErrorKind::bad_input, "unknown signal '" + text + "'"};
}

}  // namespace px::cluster
