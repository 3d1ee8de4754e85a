#pragma once

#include <cctype>

namespace px::cpp {

// Of which characters C++'s words are made. What is not ASCII counts as a letter.

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

}  // namespace px::cpp
