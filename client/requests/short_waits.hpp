#pragma once

#include "wire/time.hpp"

namespace px::client {

/// Whether a thread that waits for an answer stays awake for it. To be woken takes an idle
/// processor longer than to pass a message on, so it does where the last answer came soon. Sees no
/// clock.
class ShortWaits {
 public:
  /// For how long it stays awake at most.
  static constexpr Duration longest = std::chrono::microseconds(400);

  bool stays_awake() const { return was_short_; }
  /// An answer came, or the wait was given up, after this time.
  void waited(Duration time) { was_short_ = time <= longest; }

 private:
  bool was_short_ = false;
};

}  // namespace px::client
