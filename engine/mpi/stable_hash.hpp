#pragma once

#include <cstdint>
#include <string_view>

namespace px::engine {

/// A hash that is the same in all processes: FNV-1a. For names that are already random, or few.
constexpr std::uint64_t stable_hash(std::string_view bytes) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const char byte : bytes)
    value = (value ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  return value;
}

}  // namespace px::engine
