#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace px {

/// The fewest edits that make `a` into `b`; an edit inserts, deletes or replaces one letter, or
/// swaps two neighbours. No letter is edited twice (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that somebody meant who wrote `word`: the one with the fewest edits; of several, the
/// one that has the most letters of `word` in their order, then the one that begins most like it,
/// then the first. Nothing where none is near: one edit is near, and so are edits of at most a
/// third of the longer word's letters; but a word of which no letter stays is never near.
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names);

/// "; did you mean --engines?" for the end of a sentence about `word`; empty where no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace px
