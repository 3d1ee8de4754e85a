#pragma once

#include <string>
#include <vector>

namespace px::cpp {

/// A compiler's message, with "cell 3:2:5: error:" spelled "cell 3, line 2, column 5: error:".
std::string name_lines_of_cells(const std::string& text);

/// The text without the colours of a terminal.
std::string without_colours(const std::string& text);

/// The first error in such a text, without colours, the source line and its caret.
std::string first_error(const std::string& text);

/// The hint of such a text for its first error ("hint: ..."), without "hint: "; "": none.
std::string hint_of_first_error(const std::string& text);

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace px::cpp
