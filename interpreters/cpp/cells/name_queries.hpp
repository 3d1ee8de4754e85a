#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "interpreters/cpp/cells/cursor_context.hpp"
#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// The most recent visible declaration of a name, `a::b` or `b`, at namespace scope.
const clang::NamedDecl* find_name(Compiler& compiler, const std::string& name);

/// The variables at global scope that cells have defined and that are visible, oldest first.
std::vector<std::string> variables_of_cells(Compiler& compiler);

// These parse, so they are called in a forked child.

/// The type of an expression, as spelled in a message.
std::optional<std::string> spelled_type(Compiler& compiler, const std::string& expression);

/// The names that may stand where the word at the cursor stands; sorted, each once. Names that are
/// reserved for the implementation only where the word begins like one.
std::vector<std::string> names_at(Compiler& compiler, const CursorContext& context);

/// Declarations with their comments and places; nothing where the name is unknown.
std::optional<std::string> describe(Compiler& compiler, const CursorContext& context);

}  // namespace px::cpp
