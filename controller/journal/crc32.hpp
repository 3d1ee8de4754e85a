#pragma once

#include <cstdint>
#include <string_view>

namespace px::controller {

/// The CRC-32 of zlib and gzip (IEEE 802.3): detects a record that was not written whole.
/// before  the CRC of the bytes before these.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace px::controller
