#pragma once

#include "wire/time.hpp"

namespace px::client {

/// Decides whether a thread that waits for an answer polls instead of sleeping. Waking an idle
/// processor takes longer than passing on a message, so polling answers short calls faster; but it
/// uses up a processor, so it is done only if the last answer came soon. Sees no clock; the thread
/// that has the turn (SharedIoWork) owns it.
class ShortWaits {
 public:
  /// The longest time that a thread polls before it sleeps.
  static constexpr Duration longest = std::chrono::microseconds(400);

  /// Whether the next wait should poll.
  bool stays_awake() const { return was_short_; }
  /// A wait has ended after this time, with or without an answer.
  void waited(Duration time) { was_short_ = time <= longest; }

 private:
  bool was_short_ = false;
};

}  // namespace px::client
