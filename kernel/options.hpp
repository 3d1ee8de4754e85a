#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace px::kernel {

/// The options of `pxkernel install` and `pxkernel uninstall`.
struct InstallOptions {
  bool is_for_user = false;
  bool is_for_environment = false;
  std::string prefix;
  std::string name;          ///< Empty: that of the language.
  std::string display_name;  ///< Empty: that of the language.
};

/// The command line of pxkernel.
struct KernelOptions {
  std::string command;  ///< "install", "uninstall"; empty: run as a kernel.
  std::string connection_file;
  std::string language = "python";  ///< Or "cpp".
  std::string python;               ///< Read only by pxkernel: the Python to become.
  std::string profile;
  std::string ipython_dir;
  std::string log_level = "WARN";
  InstallOptions install;
  /// IPython's own options, e.g. --InteractiveShell.xmode=Plain.
  std::vector<std::string> others;
};

/// `options` must outlive the parse.
void add_options(CLI::App& app, KernelOptions& options);

/// Parses. Returns the exit code if the program must end: --help, --version, or an error, which is
/// reported.
std::optional<int> parse_options(int argc, const char* const* argv, KernelOptions& options);

}  // namespace px::kernel
