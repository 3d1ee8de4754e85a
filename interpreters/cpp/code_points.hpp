#pragma once

#include <cstddef>
#include <string_view>

namespace px {

// Jupyter counts characters of Unicode; the compiler counts bytes of UTF-8.

/// How many characters the first `bytes` bytes are.
inline int code_points(std::string_view text, std::size_t bytes) {
  int count = 0;
  for (std::size_t i = 0; i < bytes && i < text.size(); ++i)
    count += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
  return count;
}

/// How many bytes the first `count` characters are.
inline std::size_t byte_offset(std::string_view text, int count) {
  std::size_t bytes = 0;
  while (bytes < text.size() && code_points(text, bytes + 1) <= count) ++bytes;
  return bytes;
}

}  // namespace px
