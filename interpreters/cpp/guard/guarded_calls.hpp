#pragma once

#include <string>
#include <utility>
#include <vector>

namespace px::cpp {

/// Functions of the C and C++ libraries that cells call in another form, by their symbols: those
/// that end a process, and those that start a thread, which then CellGuard guards.
std::vector<std::pair<std::string, const void*>> guarded_symbols();

}  // namespace px::cpp
