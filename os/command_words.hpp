#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace px::os {

struct CommandWords {
  std::vector<std::string> words;
  char open_quote = 0;  ///< A quote that is not closed and extends to the end; 0: none.
};

/// Splits a command line into words like a shell: at blanks that are not between '...' or "...".
/// has_escapes  a backslash outside of '...' quotes the next character.
CommandWords split_words(std::string_view text, bool has_escapes = true);

}  // namespace px::os
