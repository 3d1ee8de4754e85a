#pragma once

#include <clang/AST/PrettyPrinter.h>

#include <string>
#include <vector>

#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// The most recent visible declaration of a name, `a::b` or `b`, at namespace scope.
const clang::NamedDecl* find_name(Compiler& compiler, const std::string& name);

/// The visible variables at global scope that cells have defined, oldest first.
std::vector<std::string> variables_of_cells(Compiler& compiler);

/// How declarations and types are printed for people: without bodies and initializers.
clang::PrintingPolicy printing_policy(Compiler& compiler);

/// "Colour::red", with the spelling of `type`; "" if it is not an enumeration, or no enumerator has
/// the value.
std::string enumerator_name(Compiler& compiler, const std::string& type, long long value);

/// The names of the data members of a class, or of an instance of a class template ("Pair<int>"),
/// in their order; none if no type of this name is known.
std::vector<std::string> member_names(Compiler& compiler, const std::string& type);

}  // namespace px::cpp
