#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cluster/commands/checkpoint_options.hpp"
#include "cluster/commands/work_options.hpp"
#include "cluster/doctor/doctor_command.hpp"
#include "cluster/keep/keep_report.hpp"
#include "cluster/process/console.hpp"
#include "program/program.hpp"
#include "wire/json.hpp"

namespace px::cluster {

struct StartOptions {
  bool engines_only = false;                 ///< `engines` instead of `start`
  Json settings = Json::object();            ///< Those of the command line, in the form of a
                                             ///< profile.
  std::string settings_text;                 ///< --settings: overrides the files, overridden by
                                             ///< `settings`.
  std::string config_file;                   ///< --config: replaces the profile's.
  bool loads_profile = true;                 ///< Whether its configuration files are read.
  std::vector<std::string> controller_args;  ///< All arguments after `--`.
  bool is_daemon = false;
  std::string notebook;  ///< "python" or "cpp": started by a cell of such a notebook.
  int owner = 0;         ///< The process with which it ends; 0: it runs until it is stopped.
  bool clean_logs = true;
  StartCheckpointOptions checkpoint;
};
struct StopOptions {
  std::vector<std::string> cluster_ids;  ///< Empty: that of --cluster-id.
  bool all = false;
  std::string signal = "TERM";
};
struct RestartOptions {
  std::string targets = "all";
  std::string engine_set;  ///< Empty: all.
  Keep keep;
  bool as_json = false;
};
struct ScaleOptions {
  std::optional<int> least, most;  ///< Neither: show it.
  std::optional<double> idle_s;    ///< Nothing: 30.
  bool is_off = false;
  bool as_json = false;
};
struct ListOptions {
  bool as_json = false;
};
struct CleanOptions {
  bool force = false;
  bool all_profiles = false;
};
struct ProfileListOptions {
  bool as_json = false;
};
struct ProfileCreateOptions {
  std::string name;
  std::string from = "default";
};

struct LogsOptions {
  std::string engine;  ///< A number, "controller", a host ...; empty: all.
  int lines = 20;
  bool follow = false;
};
struct EventsOptions {
  std::string since;  ///< A date, or an age such as "10m"; empty: all.
  bool follow = false;
  bool as_json = false;
};
struct ShowDashboardOptions {
  std::string connection_file;  ///< Empty: that of the profile.
  bool opens = false;           ///< In a browser.
  bool as_json = false;
};
/// The hidden command that pxcluster starts for engines on other hosts: see watchers.hpp.
struct WatchOptions {
  std::string kind;  ///< "ssh": the engines of one host; "job": a job of a batch system.
};

/// A parsed command line.
struct ClusterOptions {
  program::ProgramOptions program;
  std::variant<StartOptions, StopOptions, RestartOptions, ScaleOptions, ListOptions, CleanOptions,
               ProfileListOptions, ProfileCreateOptions, StatusOptions, WhereOptions, StacksOptions,
               TraceOptions, PxOptions, PushOptions, PullOptions, LogsOptions, WatchOptions,
               DoctorOptions, CheckpointCreateOptions, CheckpointRestoreOptions,
               CheckpointListOptions, CheckpointShowOptions, JobsOptions, TopCommandOptions,
               EventsOptions, ShowDashboardOptions, McpOptions, DebugOptions>
      command;
  bool as_json = false;               ///< Standard output contains only JSON.
  std::vector<std::string> warnings;  ///< About options without effect and old spellings.
};

/// The options, or the exit code after --help, --version or an error (which are printed).
std::variant<ClusterOptions, int> parse_options(int argc, const char* const* argv);

/// From --debug, --quiet and --log-level.
Level console_threshold(const program::ProgramOptions& options);

/// 15, "TERM" and "SIGTERM" -> 15.  errors  bad_input.
Result<int> signal_by_name(std::string text);

}  // namespace px::cluster
