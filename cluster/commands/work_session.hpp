#pragma once

#include <csignal>

#include "client/client.hpp"
#include "client/direct_view.hpp"
#include "client/error.hpp"
#include "cluster/commands/commands.hpp"
#include "cluster/commands/work_options.hpp"

namespace px::cluster {

inline constexpr int exit_interrupted = 130;

/// While it lives Ctrl-C is counted and does not end the process. One at a time.
class InterruptsCounted {
 public:
  InterruptsCounted();
  InterruptsCounted(const InterruptsCounted&) = delete;
  ~InterruptsCounted();
  /// Of the one that lives, or lived last.
  static int count();

 private:
  struct sigaction before_{};
};

/// A client of the cluster that the options mean.  errors  ClientError.
client::Client connect(const program::ProgramOptions& program, const WorkOptions& options,
                       Console& console);

/// What --targets means.  errors  ClientError.
client::Targets targets_of(const WorkOptions& options);

/// The engines that the options mean, at least one.  errors  ClientError.
client::DirectView view_of(const client::Client& client, const WorkOptions& options);

/// Calls a command, which gives its exit code; an error of the client library is said, and is 1,
/// or exit_not_running where there is no cluster or no such engine.
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
