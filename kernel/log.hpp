#pragma once

#include <string>

namespace px::kernel {

/// Sends spdlog's default logger to a copy of this descriptor: standard error itself is captured
/// for the clients.
void start_log(int descriptor, const std::string& level);

}  // namespace px::kernel
