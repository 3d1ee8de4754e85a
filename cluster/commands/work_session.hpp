#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "client/direct_view.hpp"
#include "client/error.hpp"
#include "cluster/commands/commands.hpp"
#include "cluster/commands/work_options.hpp"

namespace px::cluster {

inline constexpr int exit_interrupted = 130;

/// As long as it exists, Ctrl-C is counted and does not end the process. One at a time.
class InterruptsCounted {
 public:
  InterruptsCounted();
  InterruptsCounted(const InterruptsCounted&) = delete;
  ~InterruptsCounted();
  /// The count of the present object, or of the latest.
  static int count();

 private:
  struct sigaction before_{};
};

/// A client of the cluster that the options select.  errors  ClientError.
client::Client connect(const program::ProgramOptions& program, const WorkOptions& options,
                       Console& console);

/// When the batch jobs of the engines of the selected cluster end, as far as the files of pxcluster
/// on this host say it: "slurm job 17 ends at 2026-11-28 18:30:00".
std::vector<std::string> job_ends_of(const program::ProgramOptions& program,
                                     const WorkOptions& options);

/// The engines that --targets selects.  errors  ClientError.
client::Targets targets_of(const WorkOptions& options);

/// A view of the engines that the options select, at least one.  errors  ClientError.
client::DirectView view_of(const client::Client& client, const WorkOptions& options);

/// Calls a command, which returns its exit code; an error of the client library is reported, with
/// exit code 1, or exit_not_running if there is no such cluster or engine.
template <class Command>
int guarded(Console& console, const Command& command) {
  try {
    return command();
  } catch (const client::ClientError& error) {
    console.fail({error.kind(), error.what()});
    return error.kind() == ErrorKind::not_found || error.kind() == ErrorKind::lost_peer
               ? exit_not_running
               : 1;
  }
}

}  // namespace px::cluster
