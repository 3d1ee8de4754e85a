#pragma once

#include <sys/types.h>

#include <istream>
#include <string>

#include "program/environment.hpp"

namespace px::engine {

/// The file in /dev/shm through which Open MPI gives an MPI rank the messages of other ranks on this
/// host: the rank makes and removes it, so one that is killed leaves it behind.
/// maps         what the rank's process has mapped, as the system's /proc/PID/maps has it.
/// environment  the launcher's; it says which rank of this host it is.
/// Empty where there is none: other MPI libraries remove such files as soon as all have opened them.
std::string rank_segment(std::istream& maps, const program::Environment& environment);

/// The same, of a process that runs.
std::string rank_segment_of(pid_t process);

}  // namespace px::engine
