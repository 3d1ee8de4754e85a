#pragma once

#include <string>

namespace px::cpp {

/// The text of a diagnostic as the compiler prints it, with colours, but with lines of code as they
/// are in the cell: without what the forms of a cell insert (insertion_mark), and with the line
/// numbers that `#line` gives them.
std::string without_insertions(const std::string& text);

}  // namespace px::cpp
