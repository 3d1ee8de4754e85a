#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace px::cluster {

/// What a user may say to `pxcluster doctor`.
struct DoctorOptions {
  std::string file;                ///< --file: a connection file; empty: those of the profile
  std::vector<std::string> hosts;  ///< --hosts: to be asked through ssh
  std::string python, mpiexec;
  std::string remote;                      ///< The other hosts' pxcluster; empty: our own path
  std::vector<std::string> ssh = {"ssh"};  ///< --ssh-cmd
  std::vector<std::string> dial;           ///< What another doctor asks to try: address/port
  bool needs_mpi = false, as_json = false, is_facts = false;
};

/// `options` must outlive the parse.
void add_doctor_options(CLI::App& app, DoctorOptions& options);

}  // namespace px::cluster
