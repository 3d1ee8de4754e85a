#pragma once

#include <sys/types.h>

#include <istream>
#include <string>

#include "program/environment.hpp"

namespace px::engine {

/// The file in /dev/shm through which Open MPI gives an MPI rank the messages of other ranks on
/// this host: the rank makes and removes it, so a killed rank leaves it behind.
/// maps         the mappings of the rank's process, in the form of the system's /proc/PID/maps.
/// environment  the launcher's; it contains the rank on this host.
/// Empty if there is none: other MPI libraries remove such files as soon as all have opened them.
std::string rank_segment(std::istream& maps, const program::Environment& environment);

/// Like rank_segment(), for a running process.
std::string rank_segment_of(pid_t process);

}  // namespace px::engine
