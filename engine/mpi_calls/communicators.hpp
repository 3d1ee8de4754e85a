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
/// its reductions of objects, with a count of the calls on it. Where a cell was stopped the ranks
/// may have counted differently, or the duplicate was not made: such an attribute is to be hidden,
/// so that the library makes a duplicate anew, on all ranks.
class CachedDuplicates {
 public:
  /// The attribute was set.
  void set(int key, const void* value) {
    last_ = {key, value};
    epochs_.erase(key);
  }
  /// A duplicate is being made, and is to be written to `result`: it is kept in the attribute that
  /// was set last if that is where it is written. Returns the attribute's key.
  std::optional<int> made_at(const void* result) {
    if (!last_ || last_->second != result) return std::nullopt;
    epochs_.insert_or_assign(last_->first, std::nullopt);
    return last_->first;
  }
  /// It has been made.
  void made(int key, std::uint64_t epoch) { epochs_.insert_or_assign(key, epoch); }
  /// Whether the attribute is to be hidden.
  bool is_stale(int key, std::uint64_t epoch) const {
    const auto found = epochs_.find(key);
    return found != epochs_.end() && found->second != epoch;
  }

 private:
  std::optional<std::pair<int, const void*>> last_;
  std::map<int, std::optional<std::uint64_t>> epochs_;  // by key; null: it was not made
};

/// One communicator of the cells, as this rank sees it. One of this rank alone has no spare, and is
/// never renewed.
struct KnownCommunicator {
  /// A fresh communicator of the same ranks that is made when all of them have left the epoch.
  struct Renewal {
    std::uint64_t epoch = 0;
    CarrierUse use;  ///< Of what it replaces.
    bool has_begun = false;
    MPI_Comm fresh = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
  };

  MPI_Comm handle = MPI_COMM_NULL;   ///< That of the cells. Copies are made of it, no more.
  MPI_Comm current = MPI_COMM_NULL;  ///< Carries what cells send over it in this epoch.
  MPI_Comm spare = MPI_COMM_NULL;    ///< Nothing but fresh ones are made of it; null = it has none.
  std::list<Renewal> renewals;       ///< In their order; the last one is the next `current`.
  std::string why_lost;              ///< Why it carries nothing since a stop; empty = it does.
  std::uint64_t number = 0;          ///< The same on all of its ranks.
  CarrierUse use;                    ///< Of `current`, in this epoch.
  std::uint64_t arrivals = 0;        ///< Collective calls that this rank has come to in this epoch.
  std::shared_ptr<HostRollCall> host_roll_call;  ///< Null = MPI carries its roll calls.
  /// Other threads have called MPI on it: what they have begun is not known.
  std::atomic<bool> is_shared = false;
  bool is_used = false;         ///< By a cell, where it is of this rank alone.
  int own = 0;                  ///< This rank's place in it.
  std::vector<int> members;     ///< Its ranks' ranks in the world.
  std::vector<Rank> others;     ///< The same without this rank.
  CachedDuplicates duplicates;  ///< Those of it that libraries keep.

  /// Whether it is of this rank alone.
  bool is_alone() const { return others.empty(); }
};

/// The communicators of this rank and others that hold roll calls, and of this rank alone. Forgets
/// them when they are freed. For one thread at a time, between MPI_Init and MPI_Finalize.
class Communicators {
 public:
  /// callers  the ranks of the world that hold roll calls.
  /// memory   that of this host; outlives this, as lock does.
  /// lock     is released while ranks make something together.
  Communicators(std::set<int> callers, HostMemory& memory, CallLock& lock);
  /// MPI is not finalized yet.
  ~Communicators();
  Communicators(Communicators&&) = delete;

  /// Null where nothing is known of it: ranks that hold no roll calls, an intercommunicator.
  /// Numbers one that is new; all its ranks must ask for new ones in the same order.
  KnownCommunicator* of(MPI_Comm communicator);
  /// The same for one that its ranks have just made; makes what carries its messages.
  /// by  the collective call that has made it, if that is known: its ranks need not ask in the same
  /// order then.
  KnownCommunicator* made(MPI_Comm communicator, const std::optional<CollectiveCall>& by);
  /// The same, but null for one that is new.
  KnownCommunicator* find(MPI_Comm communicator) const;
  /// What carries its messages; itself where no roll calls are held on it. Any thread.
  /// is_main  the main thread asks.
  MPI_Comm current(MPI_Comm communicator, bool is_main) const;

  /// This rank has left the epoch: what was sent in it over a communicator must not come any more,
  /// so each is to have a fresh one.
  void renew_all(std::uint64_t epoch);
  /// Makes the fresh ones, one after the other and in the same order on all ranks, as far as the
  /// others do the same: MPI libraries get stuck where several are made at once. True: all are
  /// ready.  board  knows which ranks have left the epoch, with which communicators.
  bool progress(const RankBoard& board);
  /// Frees what carried messages in earlier epochs, as far as that can be done now.
  void free_old(const RetiredCommunicators::IsClean& is_clean) { old_.progress(is_clean); }

  /// What has carried its messages, to be given to free_behind() when the cells have freed it.
  /// Nothing where that is to stay.
  std::optional<RetiredCommunicator> behind(MPI_Comm communicator) const;
  /// Frees it, when all ranks have done the same and nothing is under way over it any more.
  void free_behind(RetiredCommunicator carrier) { old_.add(std::move(carrier)); }

  /// How many ranks of the world hold roll calls.
  std::size_t n_callers() const { return callers_.size(); }
  const std::map<std::uint64_t, std::unique_ptr<KnownCommunicator>>& all() const {
    return by_number_;
  }

 private:
  static int forget(MPI_Comm, int, void* known, void* book);
  std::unique_ptr<KnownCommunicator> describe(MPI_Comm communicator,
                                              const std::optional<CollectiveCall>& by);
  /// of() for one that may have been made by this call.
  KnownCommunicator* number(MPI_Comm communicator, const std::optional<CollectiveCall>& by);
  /// The first fresh one that it is to have. False: it is not ready.
  bool renew(KnownCommunicator& known, const RankBoard& board);

  std::set<int> callers_;
  HostMemory& memory_;
  CallLock& lock_;
  int key_ = MPI_KEYVAL_INVALID;
  std::map<std::uint64_t, std::unique_ptr<KnownCommunicator>> by_number_;
  RetiredCommunicators old_;
  std::uint64_t epoch_ = 0;
  std::map<std::uint64_t, std::uint64_t> made_of_group_;  // how many there were in this epoch
  // Freed by the cells while fresh ones were still being made of them.
  std::list<std::unique_ptr<KnownCommunicator>> freed_;
};

}  // namespace px::engine
