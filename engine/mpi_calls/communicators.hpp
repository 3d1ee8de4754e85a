#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/mpi/call_lock.hpp"
#include "engine/mpi/domains.hpp"
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
  /// An epoch that this rank has left; the next carrier is made when all ranks have left it.
  struct Left {
    std::uint64_t epoch = 0;
    CarrierUse use;  ///< The use of `current`.
  };

  MPI_Comm handle = MPI_COMM_NULL;   ///< The handle that the cells use; only copies are made of it.
  MPI_Comm current = MPI_COMM_NULL;  ///< Carries the cells' messages in this epoch.
  MPI_Comm spare = MPI_COMM_NULL;    ///< Only new communicators are made of it; null: it has none.
  std::vector<Left> left;            ///< Since `current` was made; empty: it is of this epoch.
  std::string why_lost;              ///< Why it carries no messages since a stop; empty: it does.
  std::uint64_t number = 0;          ///< The same on all of its ranks.
  Domain* domain = nullptr;          ///< To which it belongs; of no interest if it has no others.
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
  /// The collective call that has made a communicator.
  struct Maker {
    CollectiveCall call;
    Domain* domain = nullptr;  ///< Of the communicator that it was a call on.
  };

  /// callers  the ranks of the world that hold roll calls.
  /// domains  outlives this object, as memory and lock do.
  /// memory   of this host.
  /// lock     released while ranks make something together.
  Communicators(std::set<int> callers, Domains& domains, HostMemory& memory, CallLock& lock);
  /// Precondition: MPI is not finalized yet.
  ~Communicators();
  Communicators(Communicators&&) = delete;

  /// Null if it is unknown: it has ranks that hold no roll calls, or is an intercommunicator. Gives
  /// a new one its number; all its ranks must ask for new ones in the same order.
  KnownCommunicator* of(MPI_Comm communicator);
  /// Like of(), for one that its ranks have just made; makes the communicators that carry its
  /// messages.
  /// by  the collective call that has made it, if known: its ranks need not ask in the same order.
  KnownCommunicator* made(MPI_Comm communicator, const std::optional<Maker>& by);
  /// Like of(), but null for a new one.
  KnownCommunicator* find(MPI_Comm communicator) const;
  /// The communicator that carries its messages; itself if no roll calls are held on it. Any
  /// thread.
  /// is_main  whether the main thread asks.
  MPI_Comm current(MPI_Comm communicator, bool is_main) const;

  /// The epoch of the domain of the communicator's ranks, which are at least two.
  std::uint64_t epoch_of(MPI_Comm communicator);
  /// This rank has left the epoch before the domain's present one: messages sent in it over a
  /// communicator must not arrive any more, so each communicator needs a new carrier.
  void leave_epoch(Domain& domain);
  /// Makes the new carriers, one after the other: MPI libraries hang if several are made at once.
  /// All ranks of the domain call it at once, when all have gone on to this epoch.
  /// gives_up  called repeatedly; true ends the wait for the others.
  void renew(Domain& domain, const std::function<bool()>& gives_up);
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
                                              const std::optional<Maker>& by);
  /// Like of(), for one that this call may have made.
  KnownCommunicator* number(MPI_Comm communicator, const std::optional<Maker>& by);
  void renew(KnownCommunicator& known, const std::function<bool()>& gives_up);

  std::set<int> callers_;
  Domains& domains_;
  HostMemory& memory_;
  CallLock& lock_;
  int key_ = MPI_KEYVAL_INVALID;
  std::map<std::uint64_t, std::unique_ptr<KnownCommunicator>> by_number_;
  RetiredCommunicators old_;
  // Freed by the cells before their new carriers were made, which the other ranks make with this
  // one.
  std::list<std::unique_ptr<KnownCommunicator>> freed_;
};

}  // namespace px::engine
