#include "interpreters/cpp/cells/cell_history.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace px::cpp {

void CellHistory::add(int count, std::string code) {
  if (cells_.size() >= max_cells) cells_.pop_front();
  cells_.push_back({count, std::move(code), nullptr});
}

void CellHistory::set_output(std::string text) {
  if (!cells_.empty()) cells_.back().output = std::move(text);
}

std::optional<std::string> CellHistory::code_of(int count) const {
  const auto found = std::find_if(cells_.rbegin(), cells_.rend(),
                                  [&](const Cell& cell) { return cell.count == count; });
  return found == cells_.rend() ? std::nullopt : std::optional(found->code);
}

Json CellHistory::find(const Json& request) const {
  constexpr long long all = std::numeric_limits<int>::max();
  const std::string access = string_member(request, "hist_access_type").value_or("tail");
  const bool is_range = access == "range", is_search = access == "search";
  const long long start = int_member(request, "start").value_or(0);
  const long long stop = int_member(request, "stop").value_or(all);
  const std::string pattern = string_member(request, "pattern").value_or("*");
  std::vector<const Cell*> found;
  for (const Cell& cell : cells_) {
    if (is_range && (cell.count < start || cell.count >= stop)) continue;
    if (is_search && ::fnmatch(pattern.c_str(), cell.code.c_str(), 0) != 0) continue;
    found.push_back(&cell);
  }
  if (is_search && bool_member(request, "unique").value_or(false)) {
    std::unordered_map<std::string, const Cell*> last;
    for (const Cell* cell : found) last[cell->code] = cell;
    std::erase_if(found, [&](const Cell* cell) { return last[cell->code] != cell; });
  }
  const auto most = static_cast<std::size_t>(
      std::max(0LL, int_member(request, "n").value_or(access == "tail" ? 10 : all)));
  if (!is_range && found.size() > most)
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(most));
  const bool has_output = bool_member(request, "output").value_or(false);
  Json history = Json::array();
  for (const Cell* cell : found)
    history.push_back(Json::array(
        {0, cell->count, has_output ? Json::array({cell->code, cell->output}) : Json(cell->code)}));
  return history;
}

}  // namespace px::cpp
