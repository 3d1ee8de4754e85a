#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "engine/mpi/host_roll_call.hpp"
#include "engine/mpi_calls/carried_roll_call.hpp"

namespace px::engine {

/// What this rank has done over a communicator in an epoch.
struct CarrierUse {
  std::uint64_t roll_calls = 0;             ///< Made over it by this rank's collective calls.
  std::uint64_t entered = 0;                ///< The collective calls that all ranks have come to.
  std::uint64_t begun = 0;                  ///< Nonblocking collective calls.
  std::vector<CarriedRollCall> left_calls;  ///< Roll calls over it that it has left.
};

/// A communicator that has carried the messages of an epoch which all its ranks have left, or of
/// one that this rank's cells have freed.
struct RetiredCommunicator {
  MPI_Comm communicator = MPI_COMM_NULL;
  std::uint64_t number = 0;  ///< Of the communicator of the cells.
  std::uint64_t epoch = 0;
  CarrierUse use;
  /// Where the cells have freed it: one of the same ranks that carries nothing else, over which
  /// they tell one another so. Is freed, too.
  MPI_Comm spare = MPI_COMM_NULL;
  /// The roll calls on it: a count in memory that others may still look at.
  std::shared_ptr<HostRollCall> host_roll_call = nullptr;
};

/// Frees the communicators of earlier epochs, and those that the cells have freed. MPI gives the
/// place of one that was freed to the next one, so nothing may be under way over it any more: each
/// rank tells the others over it when all that it has begun on it is complete, as its last message.
/// A rank that has heard this of all others takes part in the roll calls that some have begun,
/// receives what nobody has received, drops that, and frees it. One over which the ranks have begun
/// different calls, or a large message was half sent, is never freed, nor is one that not all of
/// its ranks have freed: a rank that fails may free it while others still send to it, or wait for
/// it in a call. For the main thread.
class RetiredCommunicators {
 public:
  /// Whether all that this rank has begun over the carrier is complete.
  using IsClean = std::function<bool(const RetiredCommunicator&)>;

  RetiredCommunicators();
  /// It carries no messages of cells from now on.
  void add(RetiredCommunicator carrier);
  /// Does the next steps, as far as the other ranks have done theirs. Waits for nothing. To be
  /// called now and then; looks more and more seldom at what does not get further.
  void progress(const IsClean& is_clean);

 private:
  /// The last message of a rank: who it is from, and how far that has come.
  using LastMessage = std::array<std::uint64_t, 6>;
  struct Carrier {
    RetiredCommunicator of;
    MPI_Request freeing = MPI_REQUEST_NULL;  // a barrier of those that have freed it
    int own = 0, size = 0;
    bool is_clean = false;  // and has told the others
    bool is_lost = false;   // can never be freed
    bool is_even = false;   // all have told, and this rank takes part in all roll calls
    LastMessage last_message{};
    std::map<int, LastMessage> heard;         // by rank of the carrier
    std::vector<MPI_Request> requests;        // that must be complete before it is freed
    std::vector<CarriedRollCall> roll_calls;  // the same
    std::list<std::vector<char>> dropped;
    int looks = 0, skips = 0;  // calls of progress() that have looked at it, and are not to do so
  };

  /// Whether no rank uses it any more.
  bool have_all_freed(Carrier& carrier);
  void tell(Carrier& carrier);
  void hear(Carrier& carrier);
  void even_out(Carrier& carrier);
  void drop_messages(Carrier& carrier);
  /// True: it was freed.
  bool step(Carrier& carrier, const IsClean& is_clean);

  int last_tag_ = 0;
  bool is_in_progress_ = false;
  std::list<Carrier> carriers_;
  std::list<Carrier> lost_;  // what MPI may still read or write is kept
};

}  // namespace px::engine
