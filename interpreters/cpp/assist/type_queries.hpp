#pragma once

#include <string>
#include <vector>

#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// "Colour::red", as `type` is spelled; "" where it names no enumeration, or none of its
/// enumerators has the value.
std::string enumerator_name(Compiler& compiler, const std::string& type, long long value);

/// The names of the data members of a class, or of a class of a template ("Pair<int>"), in their
/// order; none where the type is not known by its name.
std::vector<std::string> member_names(Compiler& compiler, const std::string& type);

}  // namespace px::cpp
