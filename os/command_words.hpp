#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace px::os {

struct CommandWords {
  std::vector<std::string> words;
  char open_quote = 0;  ///< A quote that is not closed, which reaches to the end; 0: none.
};

/// Cuts a command line into words as a shell does: at blanks that are not between '...' or "...".
/// has_escapes  a backslash outside of '...' takes what follows it as it is.
CommandWords split_words(std::string_view text, bool has_escapes = true);

}  // namespace px::os
