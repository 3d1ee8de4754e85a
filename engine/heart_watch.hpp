#pragma once

#include <optional>

#include "wire/time.hpp"

namespace px::engine {

/// Decides whether the controller is still alive, from the pings that arrive (protocol 4.5).
class HeartWatch {
 public:
  /// period      the time between two checks.
  /// max_misses  the number of checks in a row without a ping after which it is considered lost; 0:
  ///             never.
  HeartWatch(Duration period, int max_misses, Instant now)
      : period_(period), max_misses_(max_misses), next_check_(now + period) {}
  /// A ping arrived.
  void heard() { heard_ = true; }
  /// Whether the controller is lost; call it at next_deadline().
  bool is_lost(Instant now) {
    if (max_misses_ == 0 || now < next_check_) return false;
    next_check_ = now + period_;
    misses_ = heard_ ? 0 : misses_ + 1;
    heard_ = false;
    return misses_ >= max_misses_;
  }
  std::optional<Instant> next_deadline() const {
    return max_misses_ == 0 ? std::nullopt : std::optional<Instant>(next_check_);
  }

 private:
  Duration period_;
  int max_misses_;
  Instant next_check_;
  bool heard_ = false;
  int misses_ = 0;
};

}  // namespace px::engine
