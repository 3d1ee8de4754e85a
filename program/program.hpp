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

/// The version of polyxeus that contains this program.
std::string program_version();

/// Prepares `app` for ipyparallel's option syntax: `--name=value`, `--name value`, `--version`,
/// `--help`, `--help-all`. Adds the shared options. For parse_command_line(); `options` must
/// outlive the parse.
void add_program_options(CLI::App& app, ProgramOptions& options);

/// Makes spdlog's default logger write to stderr, from INFO on: for problems before the options are
/// known. Call it first.
void start_log_to_stderr(const std::string& name);

/// Makes spdlog's default logger write to stderr, or to <profile>/log/<name>-<cluster_id>-<pid>.log
/// with --log-to-file; lines begin with date, [name] and, from warnings on, the level.
/// errors  bad_input: not a level; system: the file cannot be written.
Result<void> start_log(const std::string& name, const ProgramOptions& options,
                       const net::ProfilePaths& paths);

/// From now on a separate thread writes the log, so that a disk that hangs delays no other thread:
/// if more than 8,192 lines wait for it the oldest are dropped. The end of the program waits for
/// the remaining lines.
void log_on_thread();

/// From now on the lines that the default logger would write to stderr are written to this
/// descriptor: for a program that uses descriptor 2 for other purposes. A log file is not affected.
void move_log_from_stderr(int descriptor);

/// Changes to --work-dir, if it was given.  errors  system.
Result<void> enter_work_dir(const ProgramOptions& options);

}  // namespace px::program
