#pragma once

#include <string>

namespace px::cpp {

/// The text of a diagnostic as the compiler prints it, with colours, but with lines of code as in
/// the cell: without the insertions of the cell's forms (insertion_mark), and with the line numbers
/// of `#line`.
std::string without_insertions(const std::string& text);

}  // namespace px::cpp
