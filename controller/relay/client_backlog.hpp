#pragma once

#include <cstddef>

#include "wire/time.hpp"

namespace px::controller {

/// How much may wait for a client that does not read. A client that exceeds both limits counts as
/// stuck.
struct ClientBounds {
  std::size_t bytes = std::size_t{32} << 20;
  /// A client may be slow: only one that takes nothing at all for this time is stuck.
  Duration patience = std::chrono::seconds(30);
};

/// Decides whether one client is stuck: too much waits for it on one channel, and it has taken
/// nothing for some time. One that takes something now and then is slow, not stuck, however much
/// waits. Uses no socket and no clock.
class ClientBacklog {
 public:
  /// Call it before each message: the client has taken something if less waits than after the
  /// previous message.
  /// unsent  the bytes that wait for it now.
  bool is_stuck(std::size_t unsent, const ClientBounds& bounds, Instant now) {
    if (unsent < unsent_ || unsent == 0) taken_at_ = now;
    unsent_ = unsent;
    return unsent > bounds.bytes && now - taken_at_ >= bounds.patience;
  }
  /// A message was added: this many bytes wait now.
  void added(std::size_t unsent) { unsent_ = unsent; }

 private:
  std::size_t unsent_ = 0;
  Instant taken_at_{};  // when it last took something
};

}  // namespace px::controller
