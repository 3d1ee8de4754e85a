#include "cluster/commands/checkpoint_options.hpp"

#include <limits>

#include "program/value_checks.hpp"

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
         "Variables that are blocks of one array along its first dimension: a,b (beside those "
         "that were scattered)")
      ->allow_extra_args(false)
      ->check(program::variable_names());
}

}  // namespace

void add_checkpoint_commands(CLI::App& app, CheckpointCommands& commands,
                             const std::function<void(CLI::App&)>& add_program_options) {
  CLI::App& checkpoint = *app.add_subcommand(
      "checkpoint", "Write variables of the engines to files, and define them again");
  checkpoint.require_subcommand(1);
  const auto add = [&](const char* name, const char* help) -> CLI::App& {
    CLI::App& command = *checkpoint.add_subcommand(name, help);
    add_program_options(command);
    return command;
  };
  const std::string folder = "The folder of the checkpoints; all hosts of the engines must see it";
  CLI::App& create = add("create", "Write variables of the engines to a new checkpoint");
  add_work_options(create, commands.create);
  add_common(create, commands.create, folder, "A label, to find it again");
  add_names(create, commands.create, "Only these variables: a,b (default: all)");
  create
      .add_option_function<int>(
          "--keep", [&commands](int count) { commands.create.keep = count; },
          "Remove older ones with this label so that this number stays; 0: none (default: 0, with "
          "--every 2)")
      ->check(program::whole_number(" of checkpoints", 0, std::numeric_limits<int>::max()));
  create
      .add_option_function<double>(
          "--every", [&commands](double minutes) { commands.create.every_min = minutes; },
          "Make one every so many minutes, until Ctrl-C")
      ->check(program::number_of("minutes", 1e7));
  CLI::App& restore = add("restore", "Define the variables of the last checkpoint on the engines");
  add_work_options(restore, commands.restore);
  add_common(restore, commands.restore, folder + "; or the folder of one checkpoint",
             "The last one with this label");
  add_names(restore, commands.restore, "Only these variables: a,b (default: all)");
  add_common(add("list", "List the checkpoints in a folder of this host"), commands.list,
             "The folder", "Only those with this label");
  add_common(add("show", "Show what the last checkpoint in a folder of this host holds"),
             commands.show, "The folder, or the folder of one checkpoint",
             "The last one with this label");
}

}  // namespace px::cluster
