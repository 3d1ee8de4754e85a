#include "wire/nearest_name.hpp"

#include <algorithm>
#include <tuple>

namespace px {
namespace {

/// How many letters the two have in common, in the same order.
std::size_t common_letters(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const char letter : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = letter == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last.back();
}

std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names) {
  struct Match {
    std::size_t edits, common, prefix;
    bool is_nearer_than(const Match& other) const {
      if (edits != other.edits) return edits < other.edits;
      return std::tie(common, prefix) > std::tie(other.common, other.prefix);
    }
  };
  std::optional<Match> best;
  std::optional<std::string> nearest;
  for (const std::string& name : names) {
    const Match match{edit_distance(word, name), common_letters(word, name),
                      common_prefix(word, name)};
    const std::size_t near = std::max<std::size_t>(1, std::max(word.size(), name.size()) / 3);
    if (match.edits > near || match.common == 0) continue;
    if (best && !match.is_nearer_than(*best)) continue;
    best = match;
    nearest = name;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const auto name = nearest_name(word, names);
  return name ? "; did you mean " + *name + "?" : "";
}

}  // namespace px
