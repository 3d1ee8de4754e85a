#pragma once

#include <cstdint>
#include <string>

namespace px::client {

/// A number of bytes as text for people: "812 B", "1.5 GB". Units of 1000, as for disks and
/// networks; one decimal below 100.
std::string format_bytes(std::uint64_t bytes);

}  // namespace px::client
