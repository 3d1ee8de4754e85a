#include "interpreters/cpp/run/address_ranges.hpp"

#include <algorithm>
#include <iterator>

namespace px::cpp {

void AddressRanges::add(std::uintptr_t begin, std::size_t bytes) {
  low_ = begin;
  high_ = begin + bytes;
}

std::optional<std::uintptr_t> AddressRanges::take(std::size_t bytes, Side side) {
  Blocks& free = free_of(side);
  const auto block = std::find_if(free.begin(), free.end(),
                                  [&](const auto& each) { return each.second >= bytes; });
  if (block != free.end()) {
    const auto [begin, size] = *block;
    free.erase(block);
    if (size > bytes) free.emplace(begin + bytes, size - bytes);
    return begin;
  }
  if (high_ - low_ < bytes) return std::nullopt;
  if (side == Side::top) return high_ -= bytes;
  low_ += bytes;
  return low_ - bytes;
}

void AddressRanges::give_back(std::uintptr_t begin, std::size_t bytes, Side side) {
  Blocks& free = free_of(side);
  auto block = free.emplace(begin, bytes).first;
  const auto next = std::next(block);
  if (next != free.end() && begin + bytes == next->first) {
    block->second += next->second;
    free.erase(next);
  }
  if (block == free.begin()) return;
  const auto before = std::prev(block);
  if (before->first + before->second != begin) return;
  before->second += block->second;
  free.erase(block);
}

}  // namespace px::cpp
