#include "controller/scheduler/task_digest.hpp"

namespace px::controller {
namespace {

/// FNV-1a of 64 bits, then mixed: two of them with different seeds are the digest.
std::uint64_t hash(std::string_view text, std::uint64_t seed) {
  std::uint64_t value = seed;
  for (const char c : text) {
    value ^= static_cast<unsigned char>(c);
    value *= 0x100000001b3ull;
  }
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93ull;
  return value ^ (value >> 32);
}

}  // namespace

TaskDigest digest_of(std::string_view msg_id) {
  return {hash(msg_id, 0xcbf29ce484222325ull), hash(msg_id, 0x9e3779b97f4a7c15ull)};
}

}  // namespace px::controller
