#include "engine/mpi/rank_names.hpp"

#include <algorithm>
#include <span>

#include "wire/text.hpp"

namespace px::engine {

std::string name_ranks(const std::vector<Rank>& ranks) {
  constexpr std::size_t most = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const std::size_t named = std::min(ranks.size(), most);
  text += join(std::span(ranks).first(named), ", ", &Rank::value);
  if (named < ranks.size()) text += " and " + std::to_string(ranks.size() - named) + " more";
  return text;
}

}  // namespace px::engine
