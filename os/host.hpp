#pragma once

#include <string>

namespace px::os {

/// This host's name, as `location` in connection files gives it.
std::string host_name();

/// Names this start of this host's kernel; containers on one host share it. Empty where the system
/// does not say.
std::string boot_id();

}  // namespace px::os
