#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace px::cpp {

/// The surroundings of a cursor in unfinished code. All positions are in bytes.
struct CursorContext {
  std::size_t begin = 0;        ///< The beginning of the word: an identifier, or a part of a path.
  std::size_t end = 0;          ///< Its end, possibly after the cursor.
  std::string word = {};        ///< Up to the cursor.
  std::string whole_word = {};  ///< Including the part after the cursor.
  std::string qualified = {};   ///< The whole word with the preceding names: "a::b"; not for a
                                ///< path.
  bool is_member = false;       ///< After ".", "->" or "::".
  bool is_path = false;         ///< In an #include. The word is the part after the last slash.
  bool is_code = true;          ///< Neither in a comment nor in a literal.
};

CursorContext context_of_cursor(std::string_view code, std::size_t cursor);

}  // namespace px::cpp
