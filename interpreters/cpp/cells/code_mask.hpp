#pragma once

#include <string>
#include <string_view>

namespace px::cpp {

/// C++ without what could be taken for code by mistake.
struct MaskedCode {
  /// As long as the code: comments are blanks, characters in literals are underscores, directives
  /// of the preprocessor are '#' up to their last character. Line ends stay.
  std::string text;
  bool is_open = false;  ///< It ends within a comment, a raw string or a continued line.
  bool has_open_literal = false;  ///< A quote is not closed in its line.
};

MaskedCode mask_code(std::string_view code);

}  // namespace px::cpp
