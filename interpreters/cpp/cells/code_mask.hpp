#pragma once

#include <string>
#include <string_view>

namespace px::cpp {

/// C++ without the parts that could be mistaken for code.
struct MaskedCode {
  /// As long as the code: comments are blanks, characters in literals are underscores, preprocessor
  /// directives are '#' up to their last character. Line ends are kept.
  std::string text;
  bool is_open = false;  ///< Whether it ends within a comment, a raw string or a continued line.
  bool has_open_literal = false;  ///< Whether a quote is not closed in its line.
};

MaskedCode mask_code(std::string_view code);

}  // namespace px::cpp
