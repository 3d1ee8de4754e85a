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

/// A counter in memory that the processes of a host share: one of them increments it, all may read
/// it. Each has a separate cache line, which also contains the calls that it counts.
struct alignas(64) HostCount {
  std::atomic<std::uint64_t> value = 0;
  std::array<CallForm, 2> forms{};  ///< Of calls with an even and with an odd number.
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(HostCount) == 64);

/// The contribution of a rank to a collective call of few bytes, in memory that the processes of a
/// host share.
struct alignas(64) HostPart {
  static constexpr std::size_t most_bytes = 120;
  /// The call, its type, its size and all else on which the ranks must agree; 0: MPI makes the
  /// call, and the bytes are its name.
  std::uint64_t form = 0;
  std::array<std::byte, most_bytes> bytes{};
};
static_assert(sizeof(HostPart) == 128);

/// The roll calls of a communicator whose ranks are all on one host. Each rank publishes in a
/// counter which collective call it has reached; all have come when all counters say so. A counter
/// never decreases, so that a rank may go on before others have looked, also to another
/// communicator for which it then uses the counter. A rank may publish its contribution to the call
/// together with the counter, so that a call of few bytes needs only its roll call. For the main
/// thread.
class HostRollCall {
 public:
  /// The counter of one rank.
  /// used  its value when the communicator was made, which it has from earlier communicators.
  struct RankCount {
    HostCount* count = nullptr;
    std::uint64_t used = 0;
    HostPart* parts = nullptr;  ///< Two: for calls with an even and with an odd number.
  };

  /// ranks  the ranks of the communicator, in its order; own  the index of this one.
  /// epoch  in which it was made.
  HostRollCall(std::vector<RankCount> ranks, std::size_t own, std::uint64_t epoch)
      : ranks_(std::move(ranks)), own_(own), first_epoch_(epoch) {}

  /// This rank reaches the n-th collective call of the epoch, n >= 1. A rank reaches a call only
  /// after all ranks have reached the one before it, and the first call of an epoch only after all
  /// have left the earlier epochs: so a contribution stays until all ranks have read it.
  /// call         its form.
  /// form, bytes  the contribution: see HostPart.
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

  /// Whether all ranks have reached that call.
  bool have_all_come() {
    // The form that a rank publishes is in one cache line with its counter, until its next call
    // overwrites it.
    for (; next_ < ranks_.size(); ++next_) {
      if (ranks_[next_].count->value.load() < wanted(ranks_[next_])) break;
      is_one_call_ = is_one_call_ && form_of(next_) == call_;
    }
    return next_ == ranks_.size();
  }

  /// Whether all ranks have published the same call, with nothing left to compare. Precondition:
  /// all have come.
  bool is_one_call() const { return is_one_call_; }
  /// The call that the rank has reached.
  const CallForm& form_of(std::size_t rank) const { return ranks_[rank].count->forms[n_ % 2]; }
  /// The form of the rank's contribution.
  std::uint64_t part_form_of(std::size_t rank) const { return part_of(rank).form; }

  /// Whether the contributions of all ranks have the same form; the same on all ranks.
  /// Precondition: all have come.
  bool is_of_one_form() const {
    const std::uint64_t form = part_of(own_).form;
    if (form == 0) return false;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      if (part_of(rank).form != form) return false;
    return true;
  }

  /// The contribution of the rank. Valid until this rank reaches the next call.
  const std::byte* given_by(std::size_t rank) const { return part_of(rank).bytes.data(); }
  std::size_t size() const { return ranks_.size(); }

 private:
  static constexpr int epoch_shift = 40;  // an epoch has fewer than 2^40 calls

  /// Communicators of different domains, whose epochs are not comparable, may use one counter.
  std::uint64_t wanted(const RankCount& place) const {
    return place.used + ((epoch_ - first_epoch_) << epoch_shift) + n_;
  }

  HostPart& part_of(std::size_t rank) const { return ranks_[rank].parts[n_ % 2]; }

  std::vector<RankCount> ranks_;
  std::size_t own_ = 0;
  std::uint64_t first_epoch_ = 0, epoch_ = 0, n_ = 0;
  std::size_t next_ = 0;  // the ranks before this index have come
  CallForm call_;         // of this rank
  bool is_one_call_ = true;
};

}  // namespace px::engine
