#pragma once

#include <string>

namespace px::os {

/// This host's name, as `location` in connection files gives it.
std::string host_name();

}  // namespace px::os
