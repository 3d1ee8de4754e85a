#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

namespace px::cpp {

/// The used parts of a range of addresses. Handles only numbers. Pieces are contiguous from the
/// beginning on, and released ones are reused first.
class PageArea {
 public:
  /// begin  the first byte.
  PageArea(std::size_t begin, std::size_t bytes) : free_{{begin, begin + bytes}} {}

  /// Takes a free piece of this size and returns its beginning; nothing if there is none.
  std::optional<std::size_t> take(std::size_t bytes) {
    const auto found = std::find_if(free_.begin(), free_.end(), [&](const auto& piece) {
      return piece.second - piece.first >= bytes;
    });
    if (found == free_.end()) return std::nullopt;
    const auto [begin, end] = *found;
    free_.erase(found);
    if (begin + bytes < end) free_[begin + bytes] = end;
    return begin;
  }

  /// Releases a whole piece that take() has returned.
  void give_back(std::size_t begin, std::size_t bytes) {
    std::size_t end = begin + bytes;
    const auto next = free_.find(end);
    if (next != free_.end()) {
      end = next->second;
      free_.erase(next);
    }
    const auto behind = free_.lower_bound(begin);
    if (behind != free_.begin() && std::prev(behind)->second == begin)
      std::prev(behind)->second = end;
    else
      free_[begin] = end;
  }

 private:
  std::map<std::size_t, std::size_t> free_;  // begin: end
};

}  // namespace px::cpp
