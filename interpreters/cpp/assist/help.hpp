#pragma once

#include <optional>
#include <string>

#include "interpreters/cpp/cells/cursor_context.hpp"
#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// Help for the name at the cursor: its declarations with their comments and places; inside the
/// parentheses of a call, without a word at the cursor, the functions that the call may mean, the
/// likely one first. Nothing if neither is known. In a forked child only; see parse_to().
std::optional<std::string> help_at(Compiler& compiler, const std::string& code, std::size_t cursor,
                                   const CursorContext& context);

/// Like help_at(), for a name that the code declares at that place. In another forked child.
std::optional<std::string> help_for_declared(Compiler& compiler, const std::string& code,
                                             const CursorContext& context);

}  // namespace px::cpp
