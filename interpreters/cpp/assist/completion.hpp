#pragma once

#include <string>
#include <vector>

#include "interpreters/cpp/assist/suggestion.hpp"
#include "interpreters/cpp/cells/cursor_context.hpp"
#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// What may stand where the word at the cursor stands, the most likely first: names of cells, words
/// of the language, names of polyxeus and of the user's headers, of std (behind `std::` where that
/// is missing), of the C library, macros. Names that are reserved for the implementation only where
/// the word begins like one. Bounded. In a forked child only; see parse_to().
/// context  that of the cursor.
std::vector<Suggestion> suggestions_at(Compiler& compiler, const std::string& code,
                                       std::size_t cursor, const CursorContext& context);

}  // namespace px::cpp
