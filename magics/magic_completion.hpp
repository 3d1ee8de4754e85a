#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace px::magics {

/// What may stand where the line of a magic breaks off.
struct MagicCompletion {
  std::vector<std::string> matches;  ///< Sorted.
  std::size_t begin = 0;  ///< Where in the line that begins which they replace; in bytes.
};

/// The options of the magic that the line calls, and the commands of `%pxcluster` with theirs.
/// Nothing where something else is to be completed.
/// line  a line of a cell, up to the cursor.
/// help  what `pxcluster --help` prints (for the command "") or `pxcluster COMMAND --help`.
std::optional<MagicCompletion> complete_magic(
    std::string_view line, const std::function<std::string(const std::string& command)>& help);

}  // namespace px::magics
