#pragma once

#include <string>

namespace px::kernel {

/// Makes spdlog's default logger write to a copy of this descriptor: standard error itself is
/// captured for the clients.
void start_log(int descriptor, const std::string& level);

}  // namespace px::kernel
