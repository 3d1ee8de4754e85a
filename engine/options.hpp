#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "net/ssh/tunnel_plan.hpp"
#include "program/config_files.hpp"
#include "program/program.hpp"

namespace px::engine {

/// The options of pxengine (protocol 11.2).
struct EngineOptions {
  program::ProgramOptions program;
  std::string language = "python";  ///< --language: a LanguagePlan; the rank selects a part
  std::string python;               ///< --python: the interpreter, a path or a name in PATH
  std::string file;                 ///< --file: the engine's connection file; "-" = standard input
  std::string location;             ///< --location: replaces the one in the file
  net::SshOptions ssh;              ///< --ssh, --sshkey
  std::string ident;                ///< --ident: the engine's uuid
  std::string user;                 ///< --user: the name in message headers
  std::string key;                  ///< --Session.key: used if the file has none
  std::string command;              ///< -c
  std::string script;               ///< -s
  std::string colors;               ///< --InteractiveShell.colors
  /// For the registration; nothing: 5 s, and 0.5 s more for each rank of its MPI world.
  std::optional<double> timeout_s = {};
  double wait_for_file_s = 10;
  int id = -1;                    ///< --IPEngine.id: the requested id; -1: any
  int max_heartbeat_misses = 50;  ///< 0: never give up the controller
  bool is_mpi = false;            ///< --mpi
  /// --when-rank-dies: "continue": the other ranks live on; "abort": their launcher ends them.
  std::string when_rank_dies = "continue";
  bool is_file_of_rank_0 = false;  ///< --file-from-rank-0: only rank 0 reads the file
};

/// Adds the options to `app`; `options` must outlive the parse.
void add_engine_options(CLI::App& app, EngineOptions& options);

/// Adds the options to `app` and parses with it, like program::parse_command_line().
std::optional<int> parse_options(CLI::App& app, EngineOptions& options, int argc,
                                 const char* const* argv);

/// The words of a command line, those of the configuration files before the user's.
struct ConfiguredWords {
  std::vector<std::string> words;    ///< argv[0] first; without `unknown`.
  std::vector<std::string> unknown;  ///< Words of the files that are not options of pxengine.
};

/// The command line together with the profile's configuration files; later words take precedence.
/// The exit code if the files cannot be parsed, after a message on stderr.
std::variant<ConfiguredWords, int> add_config(const std::vector<program::ConfigFile>& files,
                                              int argc, const char* const* argv);

}  // namespace px::engine
