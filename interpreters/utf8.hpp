#pragma once

#include <cstddef>
#include <string_view>

namespace px::interpreters {

/// The number of bytes that are whole characters: all, except an unfinished character at the end,
/// whose rest has not arrived yet. Bytes that are not UTF-8 count as whole.
std::size_t whole_characters(std::string_view text);

}  // namespace px::interpreters
