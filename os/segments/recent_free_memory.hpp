#pragma once

#include <cstdint>
#include <mutex>

#include "wire/time.hpp"

namespace px::os {

/// The free space at the last check, minus the space taken since: a check reads a dozen files. It
/// grants only a small share of that space without a new check, so that other processes that do the
/// same cannot together take too much. Any thread may use it.
class RecentFreeMemory {
 public:
  /// Whether there is room for this many bytes without a new check; if so, takes them.
  bool take(std::uint64_t bytes, Instant now) {
    const std::lock_guard lock{mutex_};
    if (now - looked_at_ > validity || bytes > free_ / least_share) return false;
    free_ -= bytes;
    return true;
  }
  void note(std::uint64_t bytes, Instant now) {
    const std::lock_guard lock{mutex_};
    free_ = bytes;
    looked_at_ = now;
  }

 private:
  static constexpr Duration validity = std::chrono::milliseconds(100);
  static constexpr std::uint64_t least_share = 64;

  std::mutex mutex_;
  std::uint64_t free_ = 0;
  Instant looked_at_{};
};

}  // namespace px::os
