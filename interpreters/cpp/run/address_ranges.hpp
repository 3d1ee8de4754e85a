#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace px::cpp {

/// Which addresses of reserved ranges are in use: code from the bottom of a range, data from its
/// top. So each of them is one mapping for the system, however many cells there are: a process may
/// have about 65,000, and fork() copies each. All sizes are whole pages.
class AddressRanges {
 public:
  enum class Side { bottom, top };

  /// What is taken from now on comes from this range, or was given back.
  void add(std::uintptr_t begin, std::size_t bytes);
  /// Nothing where there is no room: add() another range.
  std::optional<std::uintptr_t> take(std::size_t bytes, Side side);
  void give_back(std::uintptr_t begin, std::size_t bytes, Side side);

 private:
  using Blocks = std::map<std::uintptr_t, std::size_t>;
  Blocks& free_of(Side side) { return side == Side::bottom ? free_bottom_ : free_top_; }

  std::uintptr_t low_ = 0, high_ = 0;  // of the present range, what was never taken
  Blocks free_bottom_, free_top_;      // that were given back
};

}  // namespace px::cpp
