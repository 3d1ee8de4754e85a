#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace px::engine {

/// A count in memory that the processes of a host share: one of them adds to it, all may read it.
/// Each has a cache line of its own.
struct alignas(64) HostCount {
  std::atomic<std::uint64_t> value = 0;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(HostCount) == 64);

/// The roll calls of a communicator whose ranks are all on one host. Each rank shows in a count
/// which collective call it has come to last; all have come when all counts say so. A count never
/// gets less, so that a rank may go on while others have not looked yet, also to another
/// communicator for which it uses the count then. For the main thread.
class HostRollCall {
 public:
  /// Of one rank. used  the calls of earlier communicators that the count holds: used() of that
  /// rank when the communicator was made.
  struct Place {
    HostCount* count = nullptr;
    std::uint64_t used = 0;
  };

  HostRollCall(Place own, std::vector<Place> others) : own_(own), others_(std::move(others)) {}

  /// This rank comes to the n-th collective call of the epoch, n >= 1. In an epoch no rank comes to
  /// a call before all ranks have left the earlier ones.
  void come_to(std::uint64_t epoch, std::uint64_t n) {
    epoch_ = epoch;
    n_ = n;
    next_ = 0;
    own_.count->value.store(wanted(own_));
  }

  /// Whether all have come to that call.
  bool have_all_come() {
    while (next_ < others_.size() && others_[next_].count->value.load() >= wanted(others_[next_]))
      ++next_;
    return next_ == others_.size();
  }

  /// The calls that a count holds, without their epoch.
  static std::uint64_t used(const HostCount& count) { return count.value.load() & most_calls; }

 private:
  static constexpr int epoch_shift = 40;
  static constexpr std::uint64_t most_calls = (std::uint64_t{1} << epoch_shift) - 1;

  std::uint64_t wanted(const Place& place) const {
    return epoch_ << epoch_shift | (place.used + n_);
  }

  Place own_;
  std::vector<Place> others_;
  std::uint64_t epoch_ = 0, n_ = 0;
  std::size_t next_ = 0;  // those before it have come
};

}  // namespace px::engine
