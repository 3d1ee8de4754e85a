#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "jupyter/outgoing_queue.hpp"

namespace px::jupyter {

/// What the I/O thread has taken from the outgoing queue and not yet sent to one peer, in its
/// order. Where it is bounded, clients that do not read lose output, and nobody waits for them.
class PeerQueue {
 public:
  /// max_bytes  while so much waits, further output is dropped; replies and states never are.
  ///            Nothing: no bound.
  explicit PeerQueue(std::optional<std::size_t> max_bytes = std::nullopt) : max_bytes_(max_bytes) {}

  bool is_bounded() const { return max_bytes_.has_value(); }
  bool is_empty() const { return items_.empty(); }
  /// False: it was dropped.
  bool push(OutgoingItem item);
  /// Precondition of these: !is_empty().
  OutgoingItem& front() { return items_.front(); }
  OutgoingItem pop();
  /// How many items have been dropped so far.
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::optional<std::size_t> max_bytes_;
  std::deque<OutgoingItem> items_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace px::jupyter
