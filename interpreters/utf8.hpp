#pragma once

#include <cstddef>
#include <string_view>

namespace px::interpreters {

/// How many of the bytes are whole characters: all, but for the beginning of a character at the
/// end, whose rest is still to come. What is not UTF-8 at all counts as whole.
std::size_t whole_characters(std::string_view text);

}  // namespace px::interpreters
