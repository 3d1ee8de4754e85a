#pragma once

#include <cstddef>
#include <memory>

#include "net/unsent_bytes.hpp"

namespace px::controller {

/// How much may wait in the controller for peers that do not read what it sends them: one policy
/// for all channels, to engines and to clients. Sees no socket and no clock.
class SendBudget {
 public:
  /// A peer for which less waits than this part of the budget is refused nothing,
  static constexpr std::size_t share = 8;
  /// or, when twice the budget waits for all, less than this. Beyond three times all are refused.
  static constexpr std::size_t least_bytes = std::size_t{64} << 10;

  /// most_bytes  for all peers and channels together.
  explicit SendBudget(std::size_t most_bytes)
      : most_bytes_(most_bytes), all_(std::make_shared<net::UnsentBytes>()) {}

  /// Counts what waits for one peer on one channel, here too.
  net::SharedUnsentBytes new_peer() const { return std::make_shared<net::UnsentBytes>(all_); }
  /// Whether a peer for which so much waits is to get no more.
  bool is_full(std::size_t waiting) const {
    const std::size_t total = all_->value();
    if (total < most_bytes_) return false;
    if (total >= 3 * most_bytes_) return true;
    return waiting >= (total < 2 * most_bytes_ ? most_bytes_ / share : least_bytes);
  }
  /// What waits for all.
  std::size_t total() const { return all_->value(); }

 private:
  const std::size_t most_bytes_;
  const net::SharedUnsentBytes all_;
};

}  // namespace px::controller
