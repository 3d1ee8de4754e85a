#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace px {

/// The smallest number of edits that turn `a` into `b`. An edit inserts, deletes or replaces one
/// letter, or swaps two adjacent ones; no letter is edited twice (optimal string alignment). Takes
/// time proportional to the product of the lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that a user probably meant by the misspelt `word`: the one with the fewest edits. Among
/// equals it prefers the one that shares the most letters with `word` in the same order, next the
/// one with the longest common beginning, next the first. Nothing if none is close: at most one
/// edit, or edits of at most a third of the longer word's letters; a name without any common letter
/// is never close.
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names);

/// The end of an error message about the unknown `word`: "; did you mean --engines?". Empty if no
/// name is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace px
