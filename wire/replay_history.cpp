#include "wire/replay_history.hpp"

namespace px {
namespace {

/// The first 16 hexadecimal digits. They are verified HMAC output, so nobody without the key can
/// make two messages meet in them.
std::uint64_t fingerprint(std::string_view signature) {
  std::uint64_t value = 0;
  for (const char digit : signature.substr(0, 16)) {
    const auto nibble = digit <= '9' ? digit - '0' : digit - 'a' + 10;
    value = (value << 4) | (static_cast<std::uint64_t>(nibble) & 15);
  }
  return value;
}

}  // namespace

bool ReplayHistory::is_new(std::string_view signature) {
  return signature.empty() || seen_.add(fingerprint(signature), {});
}

bool ReplayHistory::has(std::string_view signature) const {
  return !signature.empty() && seen_.find(fingerprint(signature)) != nullptr;
}

}  // namespace px
