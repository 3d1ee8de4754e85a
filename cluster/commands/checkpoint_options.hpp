#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cluster/commands/work_options.hpp"

namespace px::cluster {

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
struct CheckpointListOptions : CheckpointOptions {};
struct CheckpointShowOptions : CheckpointOptions {};

/// The options of the commands of `pxcluster checkpoint`, which must outlive the parse.
void add_create_options(CLI::App& app, CheckpointCreateOptions& options);
void add_restore_options(CLI::App& app, CheckpointRestoreOptions& options);
void add_list_options(CLI::App& app, CheckpointListOptions& options);
void add_show_options(CLI::App& app, CheckpointShowOptions& options);

}  // namespace px::cluster
