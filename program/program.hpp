#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "net/discovery/profile_paths.hpp"
#include "wire/error.hpp"

namespace px::program {

/// The options that all of our programs share (protocol 11.2).
struct ProgramOptions {
  net::ProfileChoice profile;
  std::string log_level = "INFO";  ///< 0-50, or DEBUG INFO WARN ERROR CRITICAL
  bool is_debug = false;
  bool is_quiet = false;
  bool log_to_file = false;
  std::string work_dir;
};

/// The version of polyxeus that this program is of.
std::string program_version();

/// Sets `app` up for ipyparallel's option syntax: `--name=value`, `--name value`, `--version`,
/// `--help`, `--help-all`. Adds the shared options. For parse_command_line(); `options` must
/// outlive the parse.
void add_program_options(CLI::App& app, ProgramOptions& options);

/// Sends spdlog's default logger to stderr, from INFO on: for what goes wrong before the options
/// are known. Call it first.
void start_log_to_stderr(const std::string& name);

/// Sends spdlog's default logger to stderr, or to <profile>/log/<name>-<cluster_id>-<pid>.log with
/// --log-to-file; lines begin with date, [name] and, from warnings on, the level.
/// errors  bad_input: not a level; system: the file cannot be written.
Result<void> start_log(const std::string& name, const ProgramOptions& options,
                       const net::ProfilePaths& paths);

/// From now on a thread of its own writes the log, so that a disk that hangs holds nobody up: of
/// more than 8,192 lines that wait for it the oldest are dropped. The end of the program waits for
/// what is left.
void log_on_thread();

/// From now on, what the default logger would write to stderr goes to this descriptor: in a program
/// that gives the descriptor 2 away. A log file stays.
void move_log_from_stderr(int descriptor);

/// Changes to --work-dir, where it was given.  errors  system.
Result<void> enter_work_dir(const ProgramOptions& options);

}  // namespace px::program
