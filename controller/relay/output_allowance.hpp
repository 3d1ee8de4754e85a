#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "wire/time.hpp"

namespace px::controller {

/// Decides how much output may wait for one client: a fixed number of bytes, and twice the number
/// that it has taken in the last one to two seconds. So one that reads more slowly than engines
/// print gets a whole burst, and one that reads nothing uses no more than the fixed number. Uses no
/// socket and no clock.
class OutputAllowance {
 public:
  /// The bytes that may wait for any client, and the most for one that reads quickly.
  static constexpr std::size_t fixed_bytes = std::size_t{16} << 20;
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  /// A message of this size was sent to it.
  void sent(std::size_t bytes) { sent_ += bytes; }

  /// Whether one more message may wait.  unsent  the bytes that wait for the client now.
  bool has_room(std::size_t unsent, Instant now) {
    const std::uint64_t taken = sent_ > unsent ? sent_ - unsent : 0;
    if (now - begin_ >= moment) {
      const bool is_recent = now - begin_ < 2 * moment;
      taken_before_ = is_recent ? taken - taken_at_begin_ : 0;
      begin_ = now;
      taken_at_begin_ = taken;
    }
    const std::uint64_t lately = taken - taken_at_begin_ + taken_before_;
    return unsent < std::min<std::uint64_t>(fixed_bytes + 2 * lately, most_bytes);
  }

 private:
  static constexpr Duration moment = std::chrono::seconds(1);

  std::uint64_t sent_ = 0;
  Instant begin_{};  // of this moment
  std::uint64_t taken_at_begin_ = 0;
  std::uint64_t taken_before_ = 0;  // in the moment before it
};

}  // namespace px::controller
