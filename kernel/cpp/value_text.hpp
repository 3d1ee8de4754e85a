#pragma once

#include <string>
#include <vector>

#include "wire/value.hpp"

namespace px::kernel {

/// Values from engines in C++ notation, for people: `{{1, 2}, "text"}`; cut if too long. One value
/// is written alone, several as a list.
std::string text_of_values(const std::vector<Value>& values);

}  // namespace px::kernel
