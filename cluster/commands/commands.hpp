#pragma once

#include "cluster/commands/options.hpp"

namespace px::cluster {

/// The exit codes that ipcluster has as well.
inline constexpr int exit_already_running = 10;
inline constexpr int exit_not_running = 11;
inline constexpr int exit_no_controller = 12;

/// Each does the command of pxcluster whose options it gets, and gives its exit code.
int run_command(const program::ProgramOptions& program, const StartOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const StopOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const RestartOptions& options,
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
int run_command(const program::ProgramOptions& program, const StatusOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const WhereOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const PxOptions& options, Console& console);
int run_command(const program::ProgramOptions& program, const PushOptions& options,
                Console& console);
int run_command(const program::ProgramOptions& program, const PullOptions& options,
                Console& console);

}  // namespace px::cluster
