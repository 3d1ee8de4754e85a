#pragma once

#include <string>
#include <utility>
#include <vector>

namespace px::cpp {

/// Functions of the C and C++ libraries that are replaced in cells, by their symbols: those that
/// end a process, and those that start a thread, which CellGuard guards.
std::vector<std::pair<std::string, const void*>> guarded_symbols();

}  // namespace px::cpp
