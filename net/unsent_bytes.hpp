#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace px::net {

/// Counts the bytes that a socket has queued for one peer and has not given to the operating
/// system: they grow when the peer does not read. The controller limits them; CountedMessage
/// explains how libzmq reports them. Several threads count, so the numbers are atomic. All messages
/// that it counts share it, so it exists as long as the last of them.
class UnsentBytes {
 public:
  /// all  a second counter, which sums up several peers; null: there is none.
  explicit UnsentBytes(std::shared_ptr<UnsentBytes> all = nullptr) : all_(std::move(all)) {}

  /// The bytes that are unsent now. Another thread may change the number at once.
  std::size_t value() const { return bytes_.load(std::memory_order_relaxed); }
  /// A message of this size was passed to libzmq.
  void add(std::size_t bytes) {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (all_) all_->add(bytes);
  }
  /// libzmq is done with a message of this size: it was sent or dropped.
  void remove(std::size_t bytes) {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    if (all_) all_->remove(bytes);
  }

 private:
  std::atomic<std::size_t> bytes_ = 0;
  const std::shared_ptr<UnsentBytes> all_;
};

using SharedUnsentBytes = std::shared_ptr<UnsentBytes>;

}  // namespace px::net
