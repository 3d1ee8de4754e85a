#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/mpi/call_lock.hpp"
#include "engine/mpi/host_roll_call.hpp"

namespace px::engine {

/// Memory that the ranks of a host share. Communicators that have no ranks elsewhere hold their
/// roll calls in it, and ranks count there the notes that they send: so a roll call calls no MPI.
/// Where a rank is alone on its host, or the ranks cannot share memory, as in containers, there is
/// none. For one thread at a time.
class HostMemory {
 public:
  /// All ranks of `notes` call it at once. ranks  theirs in the world, in the order of `notes`.
  HostMemory(MPI_Comm notes, const std::vector<int>& ranks);
  /// The roll calls that it has made are gone.
  ~HostMemory();
  HostMemory(HostMemory&&) = delete;

  /// All ranks of a communicator that was just made call it at once. Null on all of them where they
  /// have no memory in common, or one of them is in too many communicators already.
  /// members  theirs in the world; own  this one's place among them.
  /// lock     is released while they do.
  std::shared_ptr<HostRollCall> make_roll_call(MPI_Comm communicator,
                                               const std::vector<int>& members, int own,
                                               CallLock& lock);

  /// This rank is about to send a note to each other one.
  void sends_note();
  /// A note has come. place  of its sender in `notes`.
  void heard_note(int place) { ++heard_[static_cast<std::size_t>(place)]; }
  /// Whether all ranks are on this host and share it.
  bool is_of_all() const { return senders_.size() + 1 == heard_.size(); }
  /// Whether a rank of this host has sent notes that have not come yet.
  bool has_unheard() const;

 private:
  /// Where a rank has its counts. The same on all ranks.
  struct Home {
    int host = -1;   // the first rank of the host, in the world; -1 = it shares no memory
    int place = -1;  // among the ranks of the host
  };
  struct Sender {
    const HostCount* sent = nullptr;
    std::size_t place = 0;  // in `notes`
  };

  void share(MPI_Comm host_ranks);
  /// The counts of the rank at the place on this host: first the one of its notes, then those for
  /// communicators.
  std::span<HostCount> counts_of(int place) const;
  /// Two for each of these counts.
  std::span<HostPart> parts_of(int place) const;
  /// A count of this rank for a communicator; 0 = all are in use.
  std::size_t take_count();

  Home own_;
  std::vector<Home> homes_;           // by rank of the world
  std::vector<Sender> senders_;       // the other ranks of this host
  std::vector<std::uint64_t> heard_;  // by place in `notes`
  std::vector<bool> is_used_;         // of this rank's counts
  std::size_t last_taken_ = 0;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace px::engine
