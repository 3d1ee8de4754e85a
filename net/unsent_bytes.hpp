#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace px::net {

/// How much a socket holds for one peer and has not handed to the system yet: what grows when the
/// peer does not read. Any thread may use it; it lives as long as a message that it counts.
class UnsentBytes {
 public:
  /// all  counts them, too, beside those of others; null: there is none.
  explicit UnsentBytes(std::shared_ptr<UnsentBytes> all = nullptr) : all_(std::move(all)) {}

  std::size_t value() const { return bytes_.load(std::memory_order_relaxed); }
  void add(std::size_t bytes) {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (all_) all_->add(bytes);
  }
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
