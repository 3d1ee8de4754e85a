#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/ids.hpp"

namespace px {

/// "rank 2", "ranks 0, 1, 3"; "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more".
std::string name_ranks(const std::vector<Rank>& ranks);
/// The ranks and what each of them did, as it is said of one: "rank 2 was interrupted", "ranks 0, 1
/// were interrupted".
std::string say_of_ranks(const std::vector<Rank>& ranks, std::string_view predicate);

}  // namespace px
