#pragma once

#include <string>
#include <vector>

#include "wire/value.hpp"

namespace px::kernel {

/// What came from engines as C++ would write it, for a person: `{{1, 2}, "text"}`; cut where it
/// gets too long. One value stands for itself, several as a list.
std::string text_of_values(const std::vector<Value>& values);

}  // namespace px::kernel
