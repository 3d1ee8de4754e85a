#pragma once

#include <string>

#include "cluster/commands/options.hpp"
#include "net/discovery/profile_paths.hpp"

namespace px::cluster {

/// The exit codes that ipcluster has as well.
inline constexpr int exit_already_running = 10;
inline constexpr int exit_not_running = 11;
inline constexpr int exit_no_controller = 12;

/// Reports why the command cannot be done, and returns its exit code.
inline int fail(Console& console, const Error& error, int code = 1) {
  console.fail(error);
  return code;
}

/// The name of a cluster in texts: "cluster 'a' of profile default".
inline std::string called(const net::ProfilePaths& paths) {
  return "cluster '" + paths.cluster_id + "' of profile " + paths.profile_name();
}

/// How many engines there may be, and which were started again, if a pxcluster of this host sees to
/// that; lines for people, otherwise empty.
std::string upkeep_text(const program::ProgramOptions& program);

/// Each function performs the command of pxcluster whose options it gets, and returns its exit
/// code.
int run_command(const program::ProgramOptions& program, const StartOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const StopOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const RestartOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const ScaleOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const ListOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const CleanOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const ProfileListOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const ProfileCreateOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const LogsOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const EventsOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const StatusOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const WhereOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const TraceOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const McpOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const DebugOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const TopCommandOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const StacksOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const JobsOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const PxOptions& options, Console& console);
int run_command(const program::ProgramOptions& program, const PushOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const PullOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const CheckpointCreateOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const CheckpointRestoreOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const CheckpointListOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const CheckpointShowOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const ShowDashboardOptions& options,
                Console& console);
/// Hidden from users: the plan is in $PX_WATCH, the text of the engines' connection file in
/// $IPP_CONNECTION_INFO.
int run_command(const program::ProgramOptions& program, const WatchOptions& options,
                Console& console);

}  // namespace px::cluster
