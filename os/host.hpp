#pragma once

#include <string>

namespace px::os {

/// This host's name, in the form of `location` in connection files.
std::string host_name();

/// Identifies this boot of the host's kernel; containers on one host share it. Empty if the system
/// does not report it.
std::string boot_id();

/// Identifies the clock of this process's Instants: the same for all processes whose Instants can
/// be compared. Empty if unknown.
std::string clock_name();

}  // namespace px::os
