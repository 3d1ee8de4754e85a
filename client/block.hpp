#pragma once

#include <cstddef>

namespace px::client {

/// A range of items of a sequence: `begin` .. `end`-1.
struct Block {
  std::size_t begin = 0;  ///< The first item.
  std::size_t end = 0;    ///< The index after the last item.
  /// The number of items.
  std::size_t size() const { return end - begin; }
  /// Whether both ranges are equal.
  bool operator==(const Block&) const = default;
};

}  // namespace px::client
