#pragma once

#include <cstdint>
#include <string>

namespace px {

/// A number with its word, for sentences: "1 engine", "4 engines". `word` gets an s in the plural.
inline std::string counted(std::uint64_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

}  // namespace px
