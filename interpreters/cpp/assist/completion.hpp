#pragma once

#include <string>
#include <vector>

#include "interpreters/cpp/assist/suggestion.hpp"
#include "interpreters/cpp/cells/cursor_context.hpp"
#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// The possible replacements of the word at the cursor, the most likely first: names of cells,
/// words of the language, names of polyxeus and of the user's headers, of std (after `std::` if
/// that is missing), of the C library, macros. Names that are reserved for the implementation only
/// if the word begins like one. Bounded. In a forked child only; see parse_to().
/// context  of the cursor.
std::vector<Suggestion> suggestions_at(Compiler& compiler, const std::string& code,
                                       std::size_t cursor, const CursorContext& context);

}  // namespace px::cpp
