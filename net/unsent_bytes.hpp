#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace px::net {

/// How much a socket holds for one peer and has not handed to the system yet: what grows when the
/// peer does not read. Any thread may use it; it lives as long as a message that it counts.
class UnsentBytes {
 public:
  std::size_t value() const { return bytes_.load(std::memory_order_relaxed); }
  void add(std::size_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove(std::size_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> bytes_ = 0;
};

using SharedUnsentBytes = std::shared_ptr<UnsentBytes>;

}  // namespace px::net
