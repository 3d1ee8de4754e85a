#pragma once

#include <cstdint>
#include <string>

namespace px::client {

/// "1.5 GB"
std::string format_bytes(std::uint64_t bytes);

}  // namespace px::client
