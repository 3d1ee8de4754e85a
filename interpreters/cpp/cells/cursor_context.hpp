#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace px::cpp {

/// What stands around a cursor in code that is being written. All places are in bytes.
struct CursorContext {
  std::size_t begin = 0;        ///< Where the word begins: an identifier, or a part of a path.
  std::size_t end = 0;          ///< Where it ends, beyond the cursor.
  std::string word = {};        ///< Up to the cursor.
  std::string whole_word = {};  ///< Beyond it, too.
  std::string qualified = {};   ///< The whole word with the names before it: "a::b"; no path.
  bool is_member = false;       ///< Behind ".", "->" or "::".
  bool is_path = false;         ///< In an #include. The word is what stands behind the last slash.
  bool is_code = true;          ///< Neither in a comment nor in a literal.
};

CursorContext context_of_cursor(std::string_view code, std::size_t cursor);

}  // namespace px::cpp
