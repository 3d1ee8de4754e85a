#pragma once

#include <cstddef>

#include "wire/time.hpp"

namespace px::controller {

/// What may wait for a client that does not read. Both must be exceeded before it counts as stuck.
struct ClientBounds {
  std::size_t bytes = std::size_t{32} << 20;
  /// A client may be slow: only one that takes nothing at all for so long is stuck.
  Duration patience = std::chrono::seconds(30);
};

/// Decides whether one client is stuck: too much waits for it on one channel, and it has taken
/// nothing for a while. One that takes something now and then is slow, not stuck, however much
/// waits. Sees no socket and no clock.
class ClientBacklog {
 public:
  /// To be asked before each message: that less waits than after the last one shows that the client
  /// has taken something.
  /// unsent  the bytes that wait for it now.
  bool is_stuck(std::size_t unsent, const ClientBounds& bounds, Instant now) {
    if (unsent < unsent_ || unsent == 0) taken_at_ = now;
    unsent_ = unsent;
    return unsent > bounds.bytes && now - taken_at_ >= bounds.patience;
  }
  /// A message was added: so many bytes wait now.
  void added(std::size_t unsent) { unsent_ = unsent; }

 private:
  std::size_t unsent_ = 0;
  Instant taken_at_{};  // when it last took something
};

}  // namespace px::controller
