#include "wire/ids.hpp"

#include <openssl/rand.h>

#include <vector>

#include "wire/error.hpp"

namespace px {
namespace {

std::string random_hex(std::size_t byte_count) {
  std::vector<unsigned char> bytes(byte_count);
  check(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace

std::string new_session_id() {
  return random_hex(4) + "-" + random_hex(12);
}

std::string new_key() {
  return random_hex(32);
}

}  // namespace px
