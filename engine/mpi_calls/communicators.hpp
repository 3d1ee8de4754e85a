#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/mpi/call_lock.hpp"
#include "engine/mpi/host_roll_call.hpp"
#include "engine/mpi/rank_board.hpp"
#include "engine/mpi_calls/host_memory.hpp"
#include "engine/mpi_calls/retired_communicators.hpp"

namespace px::engine {

/// The attributes of a communicator in which libraries keep a duplicate of it, as mpi4py does for
/// its reductions of objects, with a count of the calls on it. If a cell was stopped the ranks may
/// have different counts, or the duplicate was not made: such an attribute must be hidden, so that
/// the library makes a new duplicate, on all ranks.
class CachedDuplicates {
 public:
  /// The attribute was set.
  void set(int key, const void* value) {
    last_ = {key, value};
    epochs_.erase(key);
  }
  /// A duplicate is being made, and will be written to `result`: it belongs to the attribute that
  /// was set last if `result` is inside that attribute's value. Returns the attribute's key.
  std::optional<int> made_at(const void* result) {
    if (!last_ || last_->second != result) return std::nullopt;
    epochs_.insert_or_assign(last_->first, std::nullopt);
    return last_->first;
  }
  /// The duplicate was made.
  void made(int key, std::uint64_t epoch) { epochs_.insert_or_assign(key, epoch); }
  /// Whether the attribute must be hidden.
  bool is_stale(int key, std::uint64_t epoch) const {
    const auto found = epochs_.find(key);
    return found != epochs_.end() && found->second != epoch;
  }

 private:
  std::optional<std::pair<int, const void*>> last_;
  std::map<int, std::optional<std::uint64_t>> epochs_;  // by key; null: it was not made
};

/// One communicator of the cells, as this rank sees it. A communicator of this rank alone has no
/// spare, and is never renewed.
struct KnownCommunicator {
  /// A new communicator of the same ranks, which is made when all of them have left the epoch.
  struct Renewal {
    std::uint64_t epoch = 0;
    CarrierUse use;  ///< The use of the communicator that it replaces.
    bool has_begun = false;
    MPI_Comm fresh = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
  };

  MPI_Comm handle = MPI_COMM_NULL;   ///< The handle that the cells use; only copies are made of it.
  MPI_Comm current = MPI_COMM_NULL;  ///< Carries the cells' messages in this epoch.
  MPI_Comm spare = MPI_COMM_NULL;    ///< Only new communicators are made of it; null: it has none.
  std::list<Renewal> renewals;       ///< In their order; the last one is the next `current`.
  std::string why_lost;              ///< Why it carries no messages since a stop; empty: it does.
  std::uint64_t number = 0;          ///< The same on all of its ranks.
  std::uint64_t made_in = 0;         ///< The epoch.
  CarrierUse use;                    ///< The use of `current` in this epoch.
  std::uint64_t arrivals = 0;        ///< The collective calls that this rank has reached in this
                                     ///< epoch.
  std::shared_ptr<HostRollCall> host_roll_call;  ///< Null: MPI carries its roll calls.
  /// Whether other threads have made MPI calls on it: their operations are unknown.
  std::atomic<bool> is_shared = false;
  bool is_used = false;         ///< By a cell, if it contains only this rank.
  int own = 0;                  ///< The index of this rank in it.
  std::vector<int> members;     ///< The world ranks of its members.
  std::vector<Rank> others;     ///< `members` without this rank.
  CachedDuplicates duplicates;  ///< Duplicates of it that libraries keep.

  /// Whether it contains only this rank.
  bool is_alone() const { return others.empty(); }
};

/// The communicators on which this rank and others hold roll calls, and those of this rank alone.
/// Forgets them when they are freed. For one thread at a time, between MPI_Init and MPI_Finalize.
class Communicators {
 public:
  /// callers  the ranks of the world that hold roll calls.
  /// memory   of this host; outlives this object, as lock does.
  /// lock     released while ranks make something together.
  Communicators(std::set<int> callers, HostMemory& memory, CallLock& lock);
  /// Precondition: MPI is not finalized yet.
  ~Communicators();
  Communicators(Communicators&&) = delete;

  /// Null if it is unknown: it has ranks that hold no roll calls, or is an intercommunicator. Gives
  /// a new one its number; all its ranks must ask for new ones in the same order.
  KnownCommunicator* of(MPI_Comm communicator);
  /// Like of(), for one that its ranks have just made; makes the communicators that carry its
  /// messages.
  /// by  the collective call that has made it, if known: its ranks need not ask in the same order.
  KnownCommunicator* made(MPI_Comm communicator, const std::optional<CollectiveCall>& by);
  /// Like of(), but null for a new one.
  KnownCommunicator* find(MPI_Comm communicator) const;
  /// The communicator that carries its messages; itself if no roll calls are held on it. Any
  /// thread.
  /// is_main  whether the main thread asks.
  MPI_Comm current(MPI_Comm communicator, bool is_main) const;

  /// This rank has left the epoch: messages sent in it over a communicator must not arrive any
  /// more, so each communicator gets a new carrier.
  void renew_all(std::uint64_t epoch);
  /// Makes the new carriers, one after the other and in the same order on all ranks, as far as the
  /// others do the same: MPI libraries hang if several are made at once. True: all are ready.
  /// board  knows which ranks have left the epoch, and their communicators.
  bool progress(const RankBoard& board);
  /// Frees the carriers of earlier epochs, as far as that is possible now.
  void free_old(const RetiredCommunicators::IsClean& is_clean) { old_.progress(is_clean); }

  /// The carrier of its messages, which must be given to free_behind() when the cells have freed
  /// the communicator. Nothing if the carrier must stay.
  std::optional<RetiredCommunicator> behind(MPI_Comm communicator) const;
  /// Frees it when all ranks have done the same and no operation is in progress over it any more.
  void free_behind(RetiredCommunicator carrier) { old_.add(std::move(carrier)); }

  /// The number of ranks of the world that hold roll calls.
  std::size_t n_callers() const { return callers_.size(); }
  const std::map<std::uint64_t, std::unique_ptr<KnownCommunicator>>& all() const {
    return by_number_;
  }

 private:
  static int forget(MPI_Comm, int, void* known, void* book);
  std::unique_ptr<KnownCommunicator> describe(MPI_Comm communicator,
                                              const std::optional<CollectiveCall>& by);
  /// Like of(), for one that this call may have made.
  KnownCommunicator* number(MPI_Comm communicator, const std::optional<CollectiveCall>& by);
  /// Makes its first new carrier. False: it is not ready.
  bool renew(KnownCommunicator& known, const RankBoard& board);

  std::set<int> callers_;
  HostMemory& memory_;
  CallLock& lock_;
  int key_ = MPI_KEYVAL_INVALID;
  std::map<std::uint64_t, std::unique_ptr<KnownCommunicator>> by_number_;
  RetiredCommunicators old_;
  std::uint64_t epoch_ = 0;
  std::map<std::uint64_t, std::uint64_t> made_of_group_;  // the number made in this epoch
  // Freed by the cells while new carriers were still being made of them.
  std::list<std::unique_ptr<KnownCommunicator>> freed_;
};

}  // namespace px::engine
