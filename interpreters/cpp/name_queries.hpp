#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <px/interpreters/cpp/compiler.hpp>

namespace px {

/// The most recent visible declaration of a name, `a::b` or `b`, at namespace scope.
const clang::NamedDecl* find_name(Compiler& compiler, const std::string& name);

/// All visible names at namespace scope that begin with `prefix`; those of `scope` ("std" or "")
/// alone. Names that are reserved for the implementation only where the prefix is one.
std::vector<std::string> names_in(Compiler& compiler, const std::string& scope,
                                  const std::string& prefix);

// These parse, so they are called in a forked child.

/// The type of an expression, as spelled in a message.
std::optional<std::string> spelled_type(Compiler& compiler, const std::string& expression);
/// The members of an object, or of the class that it points to, that everybody may use.
std::vector<std::string> members_of(Compiler& compiler, const std::string& expression);
/// Declarations with their comments, and the type where it is a value.
std::optional<std::string> describe(Compiler& compiler, const std::string& expression,
                                    const std::string& member);

}  // namespace px
