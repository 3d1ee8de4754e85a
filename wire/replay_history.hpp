#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/recent_map.hpp"

namespace px {

/// Remembers the signatures of received messages, so that a message that arrives a second time,
/// sent again or recorded and replayed, is dropped (protocol 3.6). Stores 64 bits of each
/// signature; when full it forgets the oldest first. One thread owns it.
///
/// Call it only after the signature was verified: otherwise unauthenticated peers could fill the
/// history, and only an HMAC is random enough that 64 bits of it do not collide.
class ReplayHistory {
 public:
  /// capacity  the number of signatures that are remembered.
  explicit ReplayHistory(std::size_t capacity = 65536) : seen_(capacity) {}
  /// Records a signature. True if it was not seen before. An empty signature (signing is off)
  /// always counts as new.
  bool is_new(std::string_view signature);
  /// Whether the signature was seen; does not record it. Always false for an empty one.
  bool has(std::string_view signature) const;
  /// The number of remembered signatures.
  std::size_t size() const { return seen_.size(); }

 private:
  struct Nothing {};
  struct Same {  // the digits of an HMAC need no further hashing
    std::size_t operator()(std::uint64_t value) const { return value; }
  };
  RecentMap<std::uint64_t, Nothing, Same> seen_;
};

}  // namespace px
