#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/mpi/call_form.hpp"

namespace px::engine {

/// A count in memory that the processes of a host share: one of them adds to it, all may read it.
/// Each has a cache line of its own, in which it shows what it counts, too.
struct alignas(64) HostCount {
  std::atomic<std::uint64_t> value = 0;
  std::array<CallForm, 2> forms{};  ///< Of calls with an even and with an odd number.
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(HostCount) == 64);

/// What a rank gives to a collective call of few bytes, in memory that the processes of a host
/// share.
struct alignas(64) HostPart {
  static constexpr std::size_t most_bytes = 120;
  /// The call, its type, its size and whatever else all ranks have to agree on; 0 = MPI makes it,
  /// and the bytes are its name.
  std::uint64_t form = 0;
  std::array<std::byte, most_bytes> bytes{};
};
static_assert(sizeof(HostPart) == 128);

/// The roll calls of a communicator whose ranks are all on one host. Each rank shows in a count
/// which collective call it has come to last; all have come when all counts say so. A count never
/// gets less, so that a rank may go on while others have not looked yet, also to another
/// communicator for which it uses the count then. A rank may show with the count what it gives to
/// the call, so that a call of few bytes needs nothing but its roll call. For the main thread.
class HostRollCall {
 public:
  /// Of one rank. used  the calls of earlier communicators that the count holds: used() of that
  /// rank when the communicator was made.
  struct RankCount {
    HostCount* count = nullptr;
    std::uint64_t used = 0;
    HostPart* parts = nullptr;  ///< Two: of calls with an even and with an odd number.
  };

  /// ranks  of the communicator, in its order; own  this one's place among them.
  HostRollCall(std::vector<RankCount> ranks, std::size_t own)
      : ranks_(std::move(ranks)), own_(own) {}

  /// This rank comes to the n-th collective call of the epoch, n >= 1. No rank comes to a call
  /// before all ranks have come to the one before it, and to the first call of an epoch before all
  /// have left the epochs before it: so what was given to a call stays until all have read it.
  /// call         what it is.
  /// form, bytes  what it gives: see HostPart.
  void come_to(std::uint64_t epoch, std::uint64_t n, const CallForm& call = {},
               std::uint64_t form = 0, std::span<const std::byte> bytes = {}) {
    epoch_ = epoch;
    n_ = n;
    next_ = 0;
    HostPart& part = part_of(own_);
    part.form = form;
    call_ = call;
    is_one_call_ = true;
    std::copy(bytes.begin(), bytes.end(), part.bytes.begin());
    ranks_[own_].count->forms[n_ % 2] = call;
    ranks_[own_].count->value.store(wanted(ranks_[own_]));
  }

  /// Whether all have come to that call.
  bool have_all_come() {
    // What a rank shows is in the cache with its count, from which its next call takes it away.
    for (; next_ < ranks_.size(); ++next_) {
      if (ranks_[next_].count->value.load() < wanted(ranks_[next_])) break;
      is_one_call_ = is_one_call_ && form_of(next_) == call_;
    }
    return next_ == ranks_.size();
  }

  /// Whether all ranks, which have come, have shown the same call, with nothing left to compare.
  bool is_one_call() const { return is_one_call_; }
  /// The call that the rank has come to.
  const CallForm& form_of(std::size_t rank) const { return ranks_[rank].count->forms[n_ % 2]; }
  /// Of what it has given.
  std::uint64_t part_form_of(std::size_t rank) const { return part_of(rank).form; }

  /// Whether all ranks, which have come, have given something of the same form: all of them get the
  /// same answer.
  bool is_of_one_form() const {
    const std::uint64_t form = part_of(own_).form;
    if (form == 0) return false;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      if (part_of(rank).form != form) return false;
    return true;
  }

  /// What the rank has given. Until this rank comes to the next call.
  const std::byte* given_by(std::size_t rank) const { return part_of(rank).bytes.data(); }
  std::size_t size() const { return ranks_.size(); }

  /// The calls that a count holds, without their epoch.
  static std::uint64_t used(const HostCount& count) { return count.value.load() & most_calls; }

 private:
  static constexpr int epoch_shift = 40;
  static constexpr std::uint64_t most_calls = (std::uint64_t{1} << epoch_shift) - 1;

  std::uint64_t wanted(const RankCount& place) const {
    return epoch_ << epoch_shift | (place.used + n_);
  }

  HostPart& part_of(std::size_t rank) const { return ranks_[rank].parts[n_ % 2]; }

  std::vector<RankCount> ranks_;
  std::size_t own_ = 0;
  std::uint64_t epoch_ = 0, n_ = 0;
  std::size_t next_ = 0;  // those before it have come
  CallForm call_;         // of this rank
  bool is_one_call_ = true;
};

}  // namespace px::engine
