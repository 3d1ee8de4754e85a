#pragma once

#include <cstdint>
#include <mutex>

#include "wire/time.hpp"

namespace px::os {

/// How much room there was a moment ago, less what was taken of it since: to look takes a dozen
/// files. Speaks for so little of it alone that others, who look as seldom, take no room away that
/// counts. Any thread may use it.
class RecentFreeMemory {
 public:
  /// Whether there is room for so many bytes without another look; takes them then.
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
