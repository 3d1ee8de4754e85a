#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::program {

/// One configuration file of ipyparallel's kind.
struct ConfigFile {
  std::filesystem::path path;
  Json settings;  ///< {"IPController": {"ip": "*"}}
  /// "IPController.log": set to a value that JSON cannot represent, and ignored.
  std::vector<std::string> unusable;
};

/// NAME_config.py and NAME_config.json in `folder`, if they exist, in this order: the later one
/// takes precedence. A Python that has traitlets, the first of those that python_candidates()
/// lists, runs the Python file; a file without settings is not run.
/// name     "ipcluster", "ipcontroller" or "ipengine".
/// program  argv[0] of this program.
/// errors   bad_input: the message names the file, the line and the problem; unsupported: no Python
///          has traitlets; system.
Result<std::vector<ConfigFile>> read_config_files(const std::filesystem::path& folder,
                                                  const std::string& name,
                                                  const std::string& program);

/// One such file, which must exist; its name ends with .py or .json.
Result<ConfigFile> read_config_file(const std::filesystem::path& path, const std::string& program);

/// Whether a Python configuration file has more than comments and `c = get_config()`.
bool sets_something(std::string_view python_text);

/// The settings of the files as a command line: "--IPController.ip=*".
/// errors  bad_input: the members of one are not objects of options.
Result<std::vector<std::string>> config_arguments(const std::vector<ConfigFile>& files);

/// One sentence that names the ignored settings of the file; empty: none.
std::string warning_of_unusable(const ConfigFile& file);

}  // namespace px::program
