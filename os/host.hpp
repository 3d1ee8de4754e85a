#pragma once

#include <string>

namespace px::os {

/// This host's name, as `location` in connection files gives it.
std::string host_name();

/// Names this start of this host's kernel; containers on one host share it. Empty where the system
/// does not say.
std::string boot_id();

/// Names the clock by which this process's Instants are told: the same for all processes whose
/// Instants can be compared. Empty where that is not known.
std::string clock_name();

}  // namespace px::os
