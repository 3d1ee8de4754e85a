#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace px::cpp {

/// What stands around a cursor in code that is being written.
struct CursorContext {
  std::string statements = {};  ///< What is complete before it, of all open blocks.
  std::string object = {};      ///< What the word belongs to: "v", "a.b[0]", "std"; "" for nothing.
  std::string connector = {};   ///< ".", "->", "::" or "".
  std::string word = {};        ///< The identifier up to the cursor.
  std::string whole_word = {};  ///< The identifier beyond it, too.
  std::size_t begin = 0;        ///< Where the identifier begins.
};

/// Nothing is found within comments and literals.
CursorContext context_of_cursor(std::string_view code, std::size_t cursor);

}  // namespace px::cpp
