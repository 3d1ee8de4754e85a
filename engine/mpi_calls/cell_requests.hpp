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
#include "engine/mpi/domains.hpp"
#include "engine/mpi_calls/retired_communicators.hpp"

namespace px::engine {

/// What a call that has begun, or waits, needs from other ranks.
struct Need {
  enum class Operation { send, receive, collective };
  Operation kind = Operation::receive;
  std::uint64_t communicator = 0;  ///< Its number; 0: no roll calls are held on it.
  int peer = -1;                   ///< A rank of the world; -1: any, or all.
  Domain* domain = nullptr;        ///< Of the communicator; null: no other rank is needed.
  std::uint64_t epoch = 0;         ///< The epoch in which it began.
  bool is_persistent = false;
  int tag = MpiCall::none;    ///< Or MPI_ANY_TAG.
  bool is_cancelled = false;  ///< Whether it was cancelled: it is on a communicator of this rank
                              ///< alone, and a cell was stopped.
};

/// The requests that cells have begun and not ended, with what they need; and operations that may
/// still be in progress although the cells no longer know them. For the main thread.
class CellRequests {
 public:
  /// A request was begun.
  void begun(MPI_Request request, const Need& need);
  /// What it waits for; nothing if that is unknown.
  std::optional<Need> need_of(MPI_Request request) const;
  void ended(MPI_Request request) { needs_.erase(request); }
  /// The cells no longer use the request, whether it has ended or not.
  void freed(MPI_Request request);
  /// A collective call over this communicator has failed: the operations that the ranks have begun
  /// for it may still be in progress.
  void spoil(std::uint64_t communicator, std::uint64_t epoch) {
    spoiled_.emplace(communicator, epoch);
  }

  /// Keeps the bytes that a send reads until it is complete, if the call that waited for it was
  /// left.
  void keep(MPI_Request send, std::vector<char> bytes);
  /// Releases the bytes kept for sends that are complete.
  void free_kept();

  /// Cancels the receives of the domain's epoch, which this rank leaves, except persistent ones: a
  /// message that still arrives must not be written to memory that was the cell's variables.
  void cancel_receives(const Domain& domain);
  /// Whether MPI no longer writes to memory of the cells for operations of the epoch: receives that
  /// could not be cancelled, because their message was in transit, have ended.
  bool have_receives_ended(const Domain& domain) const;
  /// Whether MPI no longer reads such memory: sends are complete, or their receivers receive
  /// nothing more of the epoch.
  bool have_sends_ended(const Domain& domain) const;
  /// Takes back what was begun on a communicator of this rank alone. False: a send is in progress.
  bool take_back(std::uint64_t communicator);
  /// Whether all operations that this rank has begun over a carrier of an earlier epoch are
  /// complete.
  bool is_clean(const RetiredCommunicator& carrier) const;

 private:
  std::unordered_map<MPI_Request, Need> needs_;
  std::list<std::pair<MPI_Request, std::vector<char>>> kept_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> spoiled_;  // numbers and epochs
};

}  // namespace px::engine
