#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/commands/work_options.hpp"

namespace px::cluster {

/// What all four have in common: which checkpoint.
struct CheckpointOptions : WorkOptions {
  std::string path;
  std::string label;  ///< Empty: any, or none.
  bool as_json = false;
};
struct CheckpointCreateOptions : CheckpointOptions {
  std::optional<std::vector<std::string>> names;  ///< Nothing: all.
  std::vector<std::string> scattered;
  std::optional<int> keep;
  std::optional<double> every_min;  ///< Again and again, until it is interrupted.
};
struct CheckpointRestoreOptions : CheckpointOptions {
  std::optional<std::vector<std::string>> names;  ///< Nothing: all.
  std::vector<std::string> scattered;
};
struct CheckpointListOptions : CheckpointOptions {};
struct CheckpointShowOptions : CheckpointOptions {};

/// The options of `pxcluster checkpoint` and its commands. They must outlive the parse.
struct CheckpointCommands {
  CheckpointCreateOptions create;
  CheckpointRestoreOptions restore;
  CheckpointListOptions list;
  CheckpointShowOptions show;
};

/// add_program_options  adds those that all programs have.
void add_checkpoint_commands(CLI::App& app, CheckpointCommands& commands,
                             const std::function<void(CLI::App&)>& add_program_options);

}  // namespace px::cluster
