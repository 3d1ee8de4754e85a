#pragma once

// The functions of xeus-cpp's and xeus-cling's xeus/xbase64.hpp, earlier xtl/xbase64.hpp.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace xeus {

inline std::size_t base64encodesize(std::size_t size) {
  return (size + 2) / 3 * 4;
}

inline std::string base64encode(std::string_view bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(base64encodesize(bytes.size()));
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = i; k < i + 3; ++k)
      group = group << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? letters[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// Decodes up to the first character that is not a base64 digit.
inline std::string base64decode(std::string_view text) {
  std::string bytes;
  unsigned group = 0;
  int bits = 0;
  for (const char each : text) {
    const unsigned digit = each >= 'A' && each <= 'Z'   ? static_cast<unsigned>(each - 'A')
                           : each >= 'a' && each <= 'z' ? static_cast<unsigned>(each - 'a') + 26
                           : each >= '0' && each <= '9' ? static_cast<unsigned>(each - '0') + 52
                           : each == '+'                ? 62
                           : each == '/'                ? 63
                                                        : 64;
    if (digit == 64) break;
    group = group << 6 | digit;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 0xFF);
  }
  return bytes;
}

}  // namespace xeus

namespace xtl {

using xeus::base64decode;
using xeus::base64encode;
using xeus::base64encodesize;

}  // namespace xtl
