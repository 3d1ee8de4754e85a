#include "interpreters/utf8.hpp"

#include <algorithm>

namespace px::interpreters {
namespace {

/// The length of the character that begins with this byte; 1 where none does.
std::size_t length_of(unsigned char first) {
  if (first >= 0xf0 && first < 0xf8) return 4;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xc0 && first < 0xe0) return 2;
  return 1;
}

bool is_continuation(unsigned char byte) {
  return (byte & 0xc0) == 0x80;
}

}  // namespace

std::size_t whole_characters(std::string_view text) {
  const std::size_t most = std::min<std::size_t>(text.size(), 3);
  for (std::size_t back = 1; back <= most; ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (is_continuation(byte)) continue;
    return length_of(byte) > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace px::interpreters
