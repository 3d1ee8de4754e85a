#include "wire/ids.hpp"

#include <openssl/rand.h>

#include <vector>

#include "wire/error.hpp"
#include "wire/text.hpp"

namespace px {
namespace {

std::string random_hex(std::size_t byte_count) {
  std::vector<unsigned char> bytes(byte_count);
  check(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return hex_digits(bytes);
}

}  // namespace

std::string new_session_id() {
  return random_hex(4) + "-" + random_hex(12);
}

std::string new_key() {
  return random_hex(32);
}

}  // namespace px
