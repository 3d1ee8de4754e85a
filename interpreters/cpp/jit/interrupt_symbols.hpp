#pragma once

#include <string>
#include <utility>
#include <vector>

namespace px::cpp {

/// What the code refers to that add_interrupt_points() makes. By name, not by address: code may be
/// kept for other processes.
std::vector<std::pair<std::string, const void*>> interrupt_symbols();

}  // namespace px::cpp
