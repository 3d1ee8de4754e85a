#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

namespace px::cpp {

// The characters of C++'s words. Characters beyond ASCII count as letters.

inline bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
inline bool is_word_start(char letter) {
  return letter == '_' || static_cast<unsigned char>(letter) >= 0x80 ||
         std::isalpha(static_cast<unsigned char>(letter)) != 0;
}
inline bool is_word_part(char letter) {
  return is_word_start(letter) || is_digit(letter);
}

/// A space, a tab, or the end of a line.
inline bool is_blank(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}
/// The text without blanks at both ends.
inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The position in a line of the included name, after `#include` and blanks; npos if the line
/// includes nothing.
inline std::size_t included_at(std::string_view line) {
  std::string_view rest = line;
  const auto skip = [&](std::string_view word) {
    if (!rest.starts_with(word)) return false;
    rest.remove_prefix(word.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    return true;
  };
  if (!skip("") || !skip("#") || !skip("include")) return std::string_view::npos;
  return line.size() - rest.size();
}

}  // namespace px::cpp
