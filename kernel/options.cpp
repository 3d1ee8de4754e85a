#include "kernel/options.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include <px_version.hpp>
#include "program/command_line.hpp"
#include "program/log_level.hpp"
#include "program/man_page.hpp"
#include "program/value_checks.hpp"

namespace px::kernel {
namespace {

/// What IPython's kernel application takes: traits, which IPython itself knows, and these.
bool is_option_of_ipython(std::string_view word) {
  if (!word.starts_with("--")) return false;
  const std::string_view name = word.substr(2, word.find('=') - 2);
  constexpr std::array<std::string_view, 7> known{
      "config", "debug", "init", "profile-dir", "quiet", "show-config", "show-config-json"};
  return name.find('.') != std::string_view::npos ||
         std::find(known.begin(), known.end(), name) != known.end();
}

void add_name(CLI::App& command, KernelOptions& options) {
  command.add_option("--name", options.install.name,
                     "The name of the kernelspec (default: pxpython or pxcpp)");
}

void add_place(CLI::App& command, KernelOptions& options) {
  auto* const user = command.add_flag("--user", options.install.is_for_user,
                                      "Install for this user (the default)");
  auto* const environment = command.add_flag("--sys-prefix", options.install.is_for_environment,
                                             "For all users of this Python environment");
  auto* const prefix = command.add_option("--prefix", options.install.prefix,
                                          "Install in PREFIX/share/jupyter/kernels");
  user->excludes(environment)->excludes(prefix);
  environment->excludes(prefix);
}

}  // namespace

void add_options(CLI::App& app, KernelOptions& options) {
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version,-V", std::string(version), "Print the version and exit");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("-f,--connection-file,--f", options.connection_file,
                 "The connection file that Jupyter writes");
  app.add_option("--language", options.language, "Language of the cells: python or cpp")
      ->check(program::one_of({"python", "cpp"}))
      ->capture_default_str();
  app.add_option("--python", options.python,
                 "The Python in which the kernel runs (default: the first of $VIRTUAL_ENV, "
                 "$CONDA_PREFIX, this program's folder and $PATH)");
  app.add_option("--profile", options.profile, "The IPython profile (default: default)");
  app.add_option("--ipython-dir", options.ipython_dir,
                 "The folder of IPython's profiles (default: $IPYTHONDIR or ~/.ipython)")
      ->check(program::folder_to_make());
  app.add_option("--log-level", options.log_level,
                 "Log level: 0-50, or DEBUG, INFO, WARN, ERROR, CRITICAL")
      ->check(program::log_level())
      ->capture_default_str();
  app.footer("Options of IPython, such as --InteractiveShell.xmode=Plain, are passed on to it.");
  app.require_subcommand(0, 1);

  CLI::App* const install =
      app.add_subcommand("install", "Install the kernelspec of this kernel for Jupyter");
  add_place(*install, options);
  add_name(*install, options);
  install->add_option("--display-name", options.install.display_name,
                      "The name that users see (default: Python + polyxeus or C++ (polyxeus))");
  CLI::App* const uninstall = app.add_subcommand("uninstall", "Remove the kernelspec");
  add_place(*uninstall, options);
  add_name(*uninstall, options);
  for (CLI::App* each : {install, uninstall}) {
    each->add_option("--language", options.language, "Language of the kernel: python or cpp")
        ->check(program::one_of({"python", "cpp"}))
        ->capture_default_str();
    each->callback([each, &options] { options.command = each->get_name(); });
  }
  program::add_exit_codes(app, {{"0", "done; for a kernel: Jupyter ended it"},
                                {"1", "the command failed; the last line gives the reason"},
                                {"2", "the command line is invalid; the program started nothing"}});
}

std::optional<int> parse_options(int argc, const char* const* argv, KernelOptions& options) {
  CLI::App app{"A Jupyter kernel for Python or C++ that drives polyxeus clusters.", "pxkernel"};
  add_options(app, options);
  const program::AcceptedWords accepted{program::IpyparallelProgram::none, is_option_of_ipython};
  if (const auto code = program::parse_command_line(app, argc, argv, accepted)) return code;
  options.others = app.remaining();
  if (!options.command.empty() || !options.connection_file.empty()) return std::nullopt;
  std::cerr << "pxkernel: error: Jupyter starts this program with -f FILE; run `pxkernel "
               "install` to install it for Jupyter"
            << std::endl;
  return program::exit_usage;
}

}  // namespace px::kernel
