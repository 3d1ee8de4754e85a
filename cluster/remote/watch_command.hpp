#pragma once

#include <string>

#include "cluster/commands/options.hpp"
#include "wire/json.hpp"

namespace px::cluster {

/// What a hidden command of pxcluster does: it watches over engines that are not children of this
/// computer, as a process of its own. So to the one that starts and stops a cluster they are a
/// process like any other: it ends when they have ended, and SIGTERM ends them.
/// options.kind  "ssh": the engines of one host; "job": a job of a batch system. Its plan comes by
/// $PX_WATCH, the text of the engines'
///       connection file by $IPP_CONNECTION_INFO.
/// Returns the exit code.
int run_command(const program::ProgramOptions& program, const WatchOptions& options,
                Console& console);

/// Returns the exit code.
int watch_job(const Json& plan, const std::string& connection_info);
int watch_ssh(const Json& plan, const std::string& connection_info);

}  // namespace px::cluster
