#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "wire/time.hpp"

namespace px::cluster {

/// Decides when engines that have died are started again: at once, but only so many within a
/// minute; the others when the minute of the earliest start is over, in the order in which they
/// died. Uses no process and no clock.
class Respawns {
 public:
  static constexpr Duration period = std::chrono::minutes(1);

  /// most  engines that are started within a minute; at least 1.
  explicit Respawns(int most) : most_(most) {}

  /// This engine has died. One that already waits is not counted twice.
  void died(int number);
  /// It does not wait any more: something else starts it, or it is not needed.
  void forget(int number);
  bool waits(int number) const;
  /// Whether engines wait for a later time because of the limit.
  bool is_limited(Instant now) const;
  /// The engines to start now; counts them as started.
  std::vector<int> take_due(Instant now);
  /// When take_due() will next return some, possibly in the past; nothing while none waits.
  std::optional<Instant> next_due() const;
  int most() const { return most_; }

 private:
  /// The number of starts within the last minute.
  std::size_t recent(Instant now) const;

  int most_;
  std::deque<int> waiting_;
  std::deque<Instant> started_;  // the latest `most_` ones
};

}  // namespace px::cluster
