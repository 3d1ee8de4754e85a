#pragma once

#include <cstddef>

namespace px::client {

/// Items `begin` .. `end`-1 of a sequence.
struct Block {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool operator==(const Block&) const = default;
};

}  // namespace px::client
