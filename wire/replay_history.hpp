#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/recent_map.hpp"

namespace px {

/// Remembers the signatures that were seen, to drop repeated messages (protocol 3.6).
/// Keeps a digest of each; when full it forgets the oldest first.
class ReplayHistory {
 public:
  explicit ReplayHistory(std::size_t capacity = 65536) : seen_(capacity) {}
  /// True the first time; false for a repeat. An empty signature (signing is off) is always new.
  /// Ask only after the signature was verified: a forged one must not fill the history.
  bool is_new(std::string_view signature);
  /// Whether it was seen; an empty one never was.
  bool has(std::string_view signature) const;
  std::size_t size() const { return seen_.size(); }

 private:
  struct Nothing {};
  struct Same {  // a piece of an HMAC is mixed already
    std::size_t operator()(std::uint64_t value) const { return value; }
  };
  RecentMap<std::uint64_t, Nothing, Same> seen_;
};

}  // namespace px
