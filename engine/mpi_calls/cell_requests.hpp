#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/mpi/call_place.hpp"
#include "engine/mpi_calls/retired_communicators.hpp"

namespace px::engine {

/// What a call that has begun, or waits, needs of other ranks.
struct Need {
  enum class Operation { send, receive, collective };
  Operation kind = Operation::receive;
  std::uint64_t communicator = 0;  ///< Its number; 0 = not one on which roll calls are held.
  int peer = -1;                   ///< A rank of the world; -1 = any, or all.
  std::uint64_t epoch = 0;         ///< In which it began.
  bool is_persistent = false;
  int tag = MpiCall::none;    ///< MPI_ANY_TAG, too.
  bool is_cancelled = false;  ///< On a communicator of this rank alone, as a cell was stopped.
};

/// The requests that cells have begun and not ended, by what they need; and what may still be under
/// way of those that cells no longer know. For the main thread.
class CellRequests {
 public:
  /// A request was begun.
  void begun(MPI_Request request, const Need& need);
  /// What it waits for; nothing where it is not known.
  std::optional<Need> need_of(MPI_Request request) const;
  void ended(MPI_Request request) { needs_.erase(request); }
  /// The cells want to know no more of it, whether it has ended or not.
  void freed(MPI_Request request);
  /// A collective call has failed over this communicator: what the ranks have begun for it may
  /// still be under way.
  void spoil(std::uint64_t communicator, std::uint64_t epoch) {
    spoiled_.emplace(communicator, epoch);
  }

  /// Keeps what a send reads until it is complete, if the call that waited for it was left.
  void keep(MPI_Request send, std::vector<char> bytes);
  /// Forgets what was kept for sends that are complete.
  void free_kept();

  /// Cancels the receives of an epoch that this rank leaves, persistent ones excepted: a message
  /// that still comes must not be written where the cell had its variables.
  /// is_alone  whether the communicator with this number is of this rank alone.
  void cancel_receives(std::uint64_t epoch, const std::function<bool(std::uint64_t)>& is_alone);
  /// Whether MPI writes to no memory of the cells any more for what was begun in the epoch:
  /// receives that could not be cancelled, as their message was on its way, have ended.
  bool have_receives_ended(std::uint64_t epoch) const;
  /// Whether it reads none any more: sends are complete, or their receivers take nothing more of
  /// the epoch.
  bool have_sends_ended(std::uint64_t epoch, const std::function<bool(int peer)>& has_left) const;
  /// Takes back what was begun on a communicator of this rank alone. False: a send is under way.
  bool take_back(std::uint64_t communicator);
  /// Whether all that this rank has begun over what carried messages in an earlier epoch is
  /// complete.
  bool is_clean(const RetiredCommunicator& carrier) const;

 private:
  std::unordered_map<MPI_Request, Need> needs_;
  std::list<std::pair<MPI_Request, std::vector<char>>> kept_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> spoiled_;  // numbers and epochs
};

}  // namespace px::engine
