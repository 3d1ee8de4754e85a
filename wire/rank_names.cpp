#include "wire/rank_names.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "wire/text.hpp"

namespace px {

std::string name_ranks(const std::vector<Rank>& ranks) {
  constexpr std::size_t most = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const std::size_t named = std::min(ranks.size(), most);
  text += join(std::span(ranks).first(named), ", ", &Rank::value);
  if (named < ranks.size()) text += " and " + std::to_string(ranks.size() - named) + " more";
  return text;
}

std::string say_of_ranks(const std::vector<Rank>& ranks, std::string_view predicate) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> plurals{
      {{"was ", "were "}, {"has ", "have "}}};
  std::string text = name_ranks(ranks) + " ";
  for (const auto& [one, several] : plurals)
    if (ranks.size() > 1 && predicate.starts_with(one))
      return (text += several) += predicate.substr(one.size());
  return text += predicate;
}

}  // namespace px
