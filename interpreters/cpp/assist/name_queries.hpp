#pragma once

#include <clang/AST/PrettyPrinter.h>

#include <optional>
#include <string>
#include <vector>

#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// The most recent visible declaration of a name, `a::b` or `b`, at namespace scope.
const clang::NamedDecl* find_name(Compiler& compiler, const std::string& name);

/// The variables at global scope that cells have defined and that are visible, oldest first.
std::vector<std::string> variables_of_cells(Compiler& compiler);

/// How declarations and types are spelled for people: without bodies and initializers.
clang::PrintingPolicy printing_policy(Compiler& compiler);

/// The type of an expression, as spelled in a message. In a forked child only, as it parses.
std::optional<std::string> spelled_type(Compiler& compiler, const std::string& expression);

/// "Colour::red", as `type` is spelled; "" where it names no enumeration, or none of its
/// enumerators has the value.
std::string enumerator_name(Compiler& compiler, const std::string& type, long long value);

/// The names of the data members of a class, or of a class of a template ("Pair<int>"), in their
/// order; none where the type is not known by its name.
std::vector<std::string> member_names(Compiler& compiler, const std::string& type);

}  // namespace px::cpp
