#pragma once

#include <cstddef>
#include <memory>

#include "net/unsent_bytes.hpp"

namespace px::controller {

/// How much may wait in the controller for peers that do not read their messages: one policy for
/// all channels, to engines and to clients. While less than the budget waits for all together, no
/// peer is refused; beyond that, peers for which much waits are refused first, so that a few peers
/// that do not read do not use the memory of all others. It only counts and decides: the links ask
/// it and refuse. Uses no socket and no clock; the counters are atomic, because libzmq's threads
/// subtract the bytes that they have sent.
class SendBudget {
 public:
  /// Once the budget is exceeded, a peer is not refused if less than 1/share of it waits for that
  /// peer.
  static constexpr std::size_t share = 8;
  /// Once twice the budget waits for all, only a peer for which less than this waits is not
  /// refused. From three times the budget on all are refused.
  static constexpr std::size_t least_bytes = std::size_t{64} << 10;

  /// most_bytes  the budget, for all peers and channels together.
  explicit SendBudget(std::size_t most_bytes)
      : most_bytes_(most_bytes), all_(std::make_shared<net::UnsentBytes>()) {}

  /// A counter of the bytes that wait for one peer on one channel; they also count for all.
  net::SharedUnsentBytes new_peer() const { return std::make_shared<net::UnsentBytes>(all_); }
  /// Whether a peer for which this many bytes wait must get no more.
  bool is_full(std::size_t waiting) const {
    const std::size_t total = all_->value();
    if (total < most_bytes_) return false;
    if (total >= 3 * most_bytes_) return true;
    return waiting >= (total < 2 * most_bytes_ ? most_bytes_ / share : least_bytes);
  }

 private:
  const std::size_t most_bytes_;
  const net::SharedUnsentBytes all_;
};

}  // namespace px::controller
