#include "cluster/commands/checkpoint_options.hpp"

#include <csignal>
#include <limits>

#include "cluster/commands/options.hpp"
#include "program/command_line.hpp"
#include "program/value_checks.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

/// "a,b" and "a b" -> a, b
std::vector<std::string> split_names(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words)
    for (std::string& name : program::split_at_commas(word)) names.push_back(std::move(name));
  return names;
}

void add_common(CLI::App& app, CheckpointOptions& options, const std::string& path_help,
                const std::string& label_help) {
  app.add_option("path", options.path, path_help)->required();
  app.add_option("--label", options.label, label_help);
  app.add_flag("--json", options.as_json, "Print JSON");
}

template <class Options>
void add_names(CLI::App& app, Options& options, const std::string& help) {
  app.add_option_function<std::vector<std::string>>(
         "--names",
         [&options](const std::vector<std::string>& words) { options.names = split_names(words); },
         help)
      ->allow_extra_args(false)
      ->check(program::variable_names());
  app.add_option_function<std::vector<std::string>>(
         "--scattered",
         [&options](const std::vector<std::string>& words) {
           options.scattered = split_names(words);
         },
         "Variables that are blocks of one array along its first dimension: a,b (in addition "
         "to the variables that scatter has made)")
      ->allow_extra_args(false)
      ->check(program::variable_names());
}

std::string check_keep_last(const std::string& text) {
  if (text == "all" || read_whole_number(text).value_or(0) > 0) return "";
  return "takes all, or a whole number of checkpoints from 1 on, not '" + text + "'";
}

std::string check_checkpoint_signal(const std::string& text) {
  const auto signal = signal_by_name(text);
  const bool is_free = signal && (*signal == SIGUSR1 || *signal == SIGUSR2);
  return is_free ? "" : "takes USR1 or USR2, not '" + text + "'";
}

std::string check_duration(const std::string& text) {
  if (program::read_seconds(text)) return "";
  return "takes a duration such as 90s, 10m or 2h, not '" + text + "'";
}

/// A number without a unit means minutes, as it did before there were units.
std::string check_every(const std::string& text) {
  return program::number_of("", 1e7)(text).empty() ? "" : check_duration(text);
}

constexpr const char* folder_help =
    "The folder of the checkpoints; it must be on a file system that all engines share";

}  // namespace

void add_create_options(CLI::App& app, CheckpointCreateOptions& options) {
  add_work_options(app, options);
  add_common(app, options, folder_help, "Label of the checkpoint, with which you find it again");
  add_names(app, options, "Only these variables: a,b (default: all)");
  app.add_option_function<std::string>(
         "--keep-last",
         [&options](const std::string& text) {
           options.keep_last = text == "all" ? 0 : read_whole_number(text);
         },
         "Number of checkpoints with this label to keep; older ones are removed (default: all; "
         "with "
         "--every: 2)")
      ->check(&check_keep_last);
  CLI::Option* const keep =
      app.add_option_function<int>("--keep", [&options](int count) { options.keep_last = count; });
  keep->check(program::whole_number(" of checkpoints", 0, std::numeric_limits<int>::max()));
  program::mark_as_old(*keep, "--keep-last");
  app.add_option_function<std::string>(
         "--every",
         [&options](const std::string& text) {
           options.every_s = program::read_seconds(text);
           options.has_bare_minutes = !options.every_s;
           if (options.has_bare_minutes) options.every_s = 60 * std::stod(text);
         },
         "Write a checkpoint after each interval of this length, until Ctrl-C: 90s, 10m, 2h")
      ->check(&check_every);
}

void add_restore_options(CLI::App& app, CheckpointRestoreOptions& options) {
  add_work_options(app, options);
  add_common(app, options, std::string(folder_help) + "; or the folder of one checkpoint",
             "Use the last checkpoint with this label");
  add_names(app, options, "Only these variables: a,b (default: all)");
  app.add_flag("--same-engines", options.has_same_engines,
               "Give each engine the variables of the engine that had the same id; with --targets, "
               "for example to restore only a restarted engine");
}

void add_list_options(CLI::App& app, CheckpointListOptions& options) {
  add_common(app, options, "The folder of the checkpoints",
             "List only the checkpoints with this label");
}

void add_show_options(CLI::App& app, CheckpointShowOptions& options) {
  add_common(app, options, "The folder of the checkpoints, or of one checkpoint",
             "Use the last checkpoint with this label");
}

void add_start_options(CLI::App& app, StartCheckpointOptions& options) {
  app.add_option("--checkpoint-on", options.on,
                 "Signal that makes the engines write a checkpoint: USR1 or USR2; the last two "
                 "checkpoints are kept")
      ->check(&check_checkpoint_signal);
  app.add_option(
         "--on-walltime", options.on_walltime,
         "checkpoint: before the batch job of the engines ends, save their variables, start "
         "a new job and restore the variables there (default: the engines end with the "
         "job)")
      ->check(program::one_of({"checkpoint"}));
  app.add_option(
         "--checkpoint-path", options.path,
         "Folder for the checkpoints of --checkpoint-on and --on-walltime, on a file system "
         "that all engines share (default for --on-walltime: a folder in the profile)")
      ->check(program::folder_to_make());
  app.add_option_function<std::vector<std::string>>(
         "--checkpoint-names",
         [&options](const std::vector<std::string>& words) { options.names = split_names(words); },
         "Variables that these checkpoints contain: a,b (default: all)")
      ->allow_extra_args(false)
      ->check(program::variable_names());
  app.add_option("--save-before", options.save_before,
                 "Time between the checkpoint of --on-walltime and the end of the job: 90s, 10m "
                 "(default: 5m)")
      ->check(&check_duration);
}

}  // namespace px::cluster
