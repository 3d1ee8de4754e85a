#include "controller/journal/crc32.hpp"

#include <array>
#include <cstddef>

namespace px::controller {
namespace {

using Table = std::array<std::uint32_t, 256>;

/// tables[k][b]: what the byte b does to the CRC of k zero bytes behind it.
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 255];
  return tables;
}

constexpr std::array<Table, 8> tables = make_tables();

std::uint32_t four_bytes(const unsigned char* at) {
  return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8 |
         static_cast<std::uint32_t>(at[2]) << 16 | static_cast<std::uint32_t>(at[3]) << 24;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  std::uint32_t value = ~before;
  for (; left >= 8; left -= 8, at += 8) {  // eight bytes at a time: it is on the way of each task
    const std::uint32_t low = value ^ four_bytes(at), high = four_bytes(at + 4);
    value = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^
            tables[4][low >> 24] ^ tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^
            tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
  }
  for (; left > 0; --left, ++at) value = (value >> 8) ^ tables[0][(value ^ *at) & 255];
  return ~value;
}

}  // namespace px::controller
