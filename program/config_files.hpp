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
  /// "IPController.log": set to something that no file of JSON can hold, and ignored.
  std::vector<std::string> unusable;
};

/// NAME_config.py and NAME_config.json in `folder`, as far as they are there, in this order: the
/// later overrides the earlier. The Python file is run by a Python that has traitlets, the first of
/// those that python_candidates() names; one that sets nothing is not run.
/// name     "ipcluster", "ipcontroller" or "ipengine".
/// program  how this program was called (argv[0]).
/// errors   bad_input: names the file, the line and what is wrong; unsupported: no Python has
///          traitlets; system.
Result<std::vector<ConfigFile>> read_config_files(const std::filesystem::path& folder,
                                                  const std::string& name,
                                                  const std::string& program);

/// One such file, which must be there; its name ends with .py or .json.
Result<ConfigFile> read_config_file(const std::filesystem::path& path, const std::string& program);

/// Whether a Python configuration file has more than comments and `c = get_config()`.
bool sets_something(std::string_view python_text);

/// What the files say as a command line has it: "--IPController.ip=*".
/// errors  bad_input: the members of one are not objects of options.
Result<std::vector<std::string>> config_arguments(const std::vector<ConfigFile>& files);

/// One sentence that names what in the file is ignored; empty: nothing.
std::string warning_of_unusable(const ConfigFile& file);

}  // namespace px::program
