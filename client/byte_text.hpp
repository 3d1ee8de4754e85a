#pragma once

#include <cstdint>
#include <string>

namespace px::client {

/// Returns a number of bytes as text for users: "812 B", "1.5 GB". Each unit is 1000 times the next
/// smaller one. Numbers below 100 have one decimal, unless the unit is B.
std::string format_bytes(std::uint64_t bytes);

}  // namespace px::client
