#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_set>

namespace px {

/// Remembers the signatures that were seen, to drop repeated messages (protocol 3.6).
/// Keeps a digest of each; when full it forgets the oldest first.
class ReplayHistory {
 public:
  explicit ReplayHistory(std::size_t capacity = 65536) : capacity_(capacity) {}
  /// True the first time; false for a repeat. An empty signature (signing is off) is always new.
  /// Ask only after the signature was verified: a forged one must not fill the history.
  bool is_new(std::string_view signature);
  std::size_t size() const { return seen_.size(); }

 private:
  std::size_t capacity_;
  std::unordered_set<std::uint64_t> seen_;
  std::deque<std::uint64_t> order_;
};

}  // namespace px
