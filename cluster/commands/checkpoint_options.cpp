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

constexpr const char* folder_help =
    "The folder of the checkpoints; all hosts of the engines must see it";

}  // namespace

void add_create_options(CLI::App& app, CheckpointCreateOptions& options) {
  add_work_options(app, options);
  add_common(app, options, folder_help, "A label, to find it again");
  add_names(app, options, "Only these variables: a,b (default: all)");
  app.add_option_function<int>(
         "--keep", [&options](int count) { options.keep = count; },
         "Remove older ones with this label so that this number stays; 0: none (default: 0, with "
         "--every 2)")
      ->check(program::whole_number(" of checkpoints", 0, std::numeric_limits<int>::max()));
  app.add_option_function<double>(
         "--every", [&options](double minutes) { options.every_min = minutes; },
         "Make one every so many minutes, until Ctrl-C")
      ->check(program::number_of("minutes", 1e7));
}

void add_restore_options(CLI::App& app, CheckpointRestoreOptions& options) {
  add_work_options(app, options);
  add_common(app, options, std::string(folder_help) + "; or the folder of one checkpoint",
             "The last one with this label");
  add_names(app, options, "Only these variables: a,b (default: all)");
}

void add_list_options(CLI::App& app, CheckpointListOptions& options) {
  add_common(app, options, "The folder", "Only those with this label");
}

void add_show_options(CLI::App& app, CheckpointShowOptions& options) {
  add_common(app, options, "The folder, or the folder of one checkpoint",
             "The last one with this label");
}

}  // namespace px::cluster
