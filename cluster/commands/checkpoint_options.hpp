#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cluster/commands/work_options.hpp"
#include "net/discovery/profile_paths.hpp"
#include "wire/error.hpp"

namespace px::cluster {

struct CheckpointPlan;

/// The common options of all four commands: which checkpoint.
struct CheckpointOptions : WorkOptions {
  std::string path;
  std::string label;  ///< Empty: any, or none.
  bool as_json = false;
};
struct CheckpointCreateOptions : CheckpointOptions {
  std::optional<std::vector<std::string>> names;  ///< Nothing: all.
  std::vector<std::string> scattered;
  std::optional<int> keep_last;   ///< Older ones with this label are removed; 0: none.
  std::optional<double> every_s;  ///< Interval of repeated checkpoints.
  bool has_bare_minutes = false;  ///< --every was a number without a unit.
};
struct CheckpointRestoreOptions : CheckpointOptions {
  std::optional<std::vector<std::string>> names;  ///< Nothing: all.
  std::vector<std::string> scattered;
  bool has_same_engines = false;  ///< Each engine gets the variables of the engine with its id.
};
/// The checkpoints that `pxcluster start` and `pxcluster engines` let the engines write.
struct StartCheckpointOptions {
  std::string on;                  ///< The signal that makes a checkpoint; empty: none.
  std::string path;                ///< The folder; empty: one in the profile.
  std::vector<std::string> names;  ///< The variables; empty: all.
  std::string on_walltime;  ///< "checkpoint": continue in a new job; empty: end with the job.
  std::string save_before;  ///< Time between the checkpoint and the end of the job.
};
struct CheckpointListOptions : CheckpointOptions {};
struct CheckpointShowOptions : CheckpointOptions {};

/// The options of the commands of `pxcluster checkpoint`, which must outlive the parse.
void add_create_options(CLI::App& app, CheckpointCreateOptions& options);
void add_restore_options(CLI::App& app, CheckpointRestoreOptions& options);
void add_list_options(CLI::App& app, CheckpointListOptions& options);
void add_show_options(CLI::App& app, CheckpointShowOptions& options);
void add_start_options(CLI::App& app, StartCheckpointOptions& options);

/// The commands that do what the options say.
/// engines  the launcher of the engines, e.g. "slurm".
/// errors   bad_input: options that do not belong together, or engines that run in no job;
///          unsupported: there is no Python that has polyxeus.
Result<CheckpointPlan> plan_checkpoints(const StartCheckpointOptions& options,
                                        const net::ProfilePaths& paths, const std::string& engines);

}  // namespace px::cluster
