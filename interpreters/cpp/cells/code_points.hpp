#pragma once

#include <cstddef>
#include <string_view>

namespace px::cpp {

// Jupyter counts characters of Unicode; the compiler counts bytes of UTF-8.

/// The number of characters in the first `bytes` bytes.
inline int code_points(std::string_view text, std::size_t bytes) {
  int count = 0;
  for (std::size_t i = 0; i < bytes && i < text.size(); ++i)
    count += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
  return count;
}

/// The number of bytes in the first `count` characters.
inline std::size_t byte_offset(std::string_view text, int count) {
  int seen = 0;
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    if ((static_cast<unsigned char>(text[bytes]) & 0xC0) != 0x80 && ++seen > count) return bytes;
  return text.size();
}

}  // namespace px::cpp
