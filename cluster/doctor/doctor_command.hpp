#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "cluster/doctor/doctor.hpp"
#include "cluster/process/console.hpp"
#include "program/program.hpp"

namespace px::cluster {

/// The options of `pxcluster doctor`.
struct DoctorOptions {
  std::string file;                ///< --file: a connection file; empty: those of the profile
  std::vector<std::string> hosts;  ///< --hosts: to be asked through ssh
  std::string python, mpiexec;
  std::string remote;                      ///< The other hosts' pxcluster; empty: our own path
  std::vector<std::string> ssh = {"ssh"};  ///< --ssh-cmd
  std::vector<std::string> dial;           ///< Attempts for another doctor: address/port
  bool needs_mpi = false, as_json = false, is_facts = false;
};

/// `options` must outlive the parse.
void add_doctor_options(CLI::App& app, DoctorOptions& options);

/// `pxcluster doctor`: returns 0 if there are no problems, otherwise 1.
int run_command(const program::ProgramOptions& program, const DoctorOptions& options,
                Console& console);

/// The findings as text for people, the errors first; if there are none, the list of checks.
std::string findings_as_text(const Findings& findings, const std::vector<Checked>& checked = {});
/// `{"findings": [{"severity", "check", "what", "why", "fix"}, ...]}`
Json findings_as_json(const Findings& findings);

/// After a failed start: checks this host and reports one cause and one fix, if it finds any.
/// needs_mpi   whether mpiexec should have started the engines.
/// is_python   whether some of them run Python: otherwise its packages are not the cause.
/// engine_cmd  their command; its --python, if any, is the Python.
/// profile     the folder of the profile.
void explain_failed_start(bool needs_mpi, bool is_python, const std::string& mpiexec,
                          const std::vector<std::string>& engine_cmd,
                          const std::filesystem::path& profile, Console& console);

}  // namespace px::cluster
