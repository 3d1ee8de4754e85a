#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace px::magics {

/// The possible completions of an unfinished line of a magic.
struct MagicCompletion {
  std::vector<std::string> matches;  ///< Sorted.
  std::size_t begin = 0;  ///< The position in the line, in bytes, from which they replace it.
};

/// The options of the magic that the line calls, and the commands of `%pxcluster` with their
/// options. Nothing if something else must be completed.
/// line  a line of a cell, up to the cursor.
/// help  the output of `pxcluster --help` (for the command "") or `pxcluster COMMAND --help`.
std::optional<MagicCompletion> complete_magic(
    std::string_view line, const std::function<std::string(const std::string& command)>& help);

}  // namespace px::magics
