#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "jupyter/outgoing_queue.hpp"

namespace px::jupyter {

/// Items that the I/O thread has taken from the OutgoingQueue and not yet sent to one peer, in the
/// order of that queue. There is one for each peer, so that a peer whose clients do not read delays
/// no other peer.
///
/// The first peer's queue (an engine's controller, a kernel's clients) has no limit of its own: its
/// messages keep their places in the OutgoingQueue, whose limit makes printing threads wait. A
/// further peer's queue is limited and its messages give up their places: clients there that do not
/// read lose output, and no thread waits for them. For the I/O thread.
class PeerQueue {
 public:
  /// max_bytes  if this many bytes of content, metadata and buffers wait, further output is
  ///            dropped; replies, questions and states never are, because their clients would wait
  ///            for them for ever. Nothing: no limit.
  explicit PeerQueue(std::optional<std::size_t> max_bytes = std::nullopt) : max_bytes_(max_bytes) {}

  bool is_bounded() const { return max_bytes_.has_value(); }
  bool is_empty() const { return items_.empty(); }
  /// False: it was dropped.
  bool push(OutgoingItem item);
  /// The oldest item, which stays until it was sent. Precondition of the next two: !is_empty().
  OutgoingItem& front() { return items_.front(); }
  OutgoingItem pop();
  /// The number of items dropped so far.
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::optional<std::size_t> max_bytes_;
  std::deque<OutgoingItem> items_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace px::jupyter
