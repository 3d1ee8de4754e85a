#include "controller/journal/crc32.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace px::controller {
namespace {

/// By its definition, bit by bit.
std::uint32_t slow_crc32(std::string_view bytes, std::uint32_t before) {
  std::uint32_t value = ~before;
  for (const char byte : bytes) {
    value ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~value;
}

std::string random_bytes(std::size_t size) {
  std::mt19937 random{1};
  std::string bytes(size, '\0');
  for (char& each : bytes) each = static_cast<char>(random());
  return bytes;
}

TEST(Crc32, IsThatOfZlib) {
  EXPECT_EQ(crc32(""), 0u);
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32(std::string(32, '\0')), 0x190a55adu);
  EXPECT_EQ(crc32(std::string(1 << 20, '\0')), 0xa738ea1cu);
}

TEST(Crc32, OfAnyLengthAtAnyAddressIsWhatItsDefinitionSays) {
  const std::string bytes = random_bytes(600);
  for (std::size_t begin = 0; begin < 17; ++begin)
    for (std::size_t size = 0; size < 500; ++size) {
      const auto before = static_cast<std::uint32_t>(size * 2654435761u);
      const std::string_view part = std::string_view(bytes).substr(begin, size);
      ASSERT_EQ(crc32(part, before), slow_crc32(part, before)) << size << " from " << begin;
    }
}

TEST(Crc32, GoesOnBehindWhatStandsBefore) {
  const std::string bytes = random_bytes(300);
  for (std::size_t size = 0; size <= bytes.size(); ++size)
    EXPECT_EQ(crc32(bytes.substr(size), crc32(bytes.substr(0, size))), crc32(bytes)) << size;
}

}  // namespace
}  // namespace px::controller
