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

/// Memory that the ranks of a host share. Communicators without ranks on other hosts hold their
/// roll calls in it, and ranks count in it the notes that they send: so a roll call needs no MPI.
/// There is none if a rank is alone on its host, or the ranks cannot share memory, e.g. in
/// containers. For one thread at a time.
class HostMemory {
 public:
  /// All ranks of `notes` call it at once.
  /// ranks  their ranks in the world, in the order of `notes`.
  HostMemory(MPI_Comm notes, const std::vector<int>& ranks);
  /// Precondition: the roll calls that it has made are destroyed.
  ~HostMemory();
  HostMemory(HostMemory&&) = delete;

  /// All ranks of a communicator that was just made call it at once. Null on all of them if they
  /// have no memory in common, or one of them is in too many communicators already.
  /// members  their ranks in the world; own  the index of this one.
  /// epoch    the epoch of its domain.
  /// lock     released while they make it.
  std::shared_ptr<HostRollCall> make_roll_call(MPI_Comm communicator,
                                               const std::vector<int>& members, int own,
                                               std::uint64_t epoch, CallLock& lock);

  /// This rank is about to send a note to each other rank.
  void sends_note();
  /// A note has arrived.
  /// place  the rank of its sender in `notes`.
  void heard_note(int place) { ++heard_[static_cast<std::size_t>(place)]; }
  /// Whether all ranks are on this host and share it.
  bool is_of_all() const { return senders_.size() + 1 == heard_.size(); }
  /// Whether a rank of this host has sent notes that have not arrived yet.
  bool has_unheard() const;

 private:
  /// The position of a rank's counters. The same on all ranks.
  struct Home {
    int host = -1;   // the world rank of the first rank of the host; -1: it shares no memory
    int place = -1;  // index among the ranks of the host
  };
  struct Sender {
    const HostCount* sent = nullptr;
    std::size_t place = 0;  // index in `notes`
  };

  void share(MPI_Comm host_ranks);
  /// The counters of the rank with this index on this host: first that of its notes, followed by
  /// those for communicators.
  std::span<HostCount> counts_of(int place) const;
  /// Two for each of these counters.
  std::span<HostPart> parts_of(int place) const;
  /// A counter of this rank for a communicator; 0: all are in use.
  std::size_t take_count();

  Home own_;
  std::vector<Home> homes_;           // by rank of the world
  std::vector<Sender> senders_;       // the other ranks of this host
  std::vector<std::uint64_t> heard_;  // by index in `notes`
  std::vector<bool> is_used_;         // for this rank's counters
  std::size_t last_taken_ = 0;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace px::engine
