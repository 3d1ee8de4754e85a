#pragma once

#include <string>
#include <vector>

#include "wire/ids.hpp"

namespace px::engine {

/// "rank 2", "ranks 0, 1, 3"; "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more".
std::string name_ranks(const std::vector<Rank>& ranks);

}  // namespace px::engine
