#pragma once

#include <cstddef>

#include "wire/time.hpp"

namespace px::controller {

/// What may wait for a client that does not read.
struct ClientBounds {
  std::size_t bytes = std::size_t{32} << 20;
  /// A client may be slow: only one that takes nothing at all for so long is stuck.
  Duration patience = std::chrono::seconds(30);
};

/// Decides whether a client is stuck: too much waits for it, and it takes nothing. Sees no socket
/// and no clock.
class ClientBacklog {
 public:
  /// unsent  What waits for it now. To be asked before each message.
  bool is_stuck(std::size_t unsent, const ClientBounds& bounds, Instant now) {
    if (unsent < unsent_ || unsent == 0) taken_at_ = now;
    unsent_ = unsent;
    return unsent > bounds.bytes && now - taken_at_ >= bounds.patience;
  }
  /// A message was added: so much waits now.
  void added(std::size_t unsent) { unsent_ = unsent; }

 private:
  std::size_t unsent_ = 0;
  Instant taken_at_{};  // when it last took something
};

}  // namespace px::controller
