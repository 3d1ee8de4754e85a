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

/// The operations of this rank over a communicator in an epoch.
struct CarrierUse {
  std::uint64_t roll_calls = 0;             ///< Held over it by this rank's collective calls.
  std::uint64_t entered = 0;                ///< The collective calls that all ranks have reached.
  std::uint64_t begun = 0;                  ///< Nonblocking collective calls.
  std::vector<CarriedRollCall> left_calls;  ///< Roll calls over it that this rank has left.
};

/// A communicator that has carried the messages of an epoch that all its ranks have left, or of a
/// communicator that this rank's cells have freed.
struct RetiredCommunicator {
  MPI_Comm communicator = MPI_COMM_NULL;
  std::uint64_t number = 0;  ///< The number of the communicator of the cells.
  std::uint64_t epoch = 0;
  CarrierUse use;
  /// If the cells have freed it: one of the same ranks that carries nothing else, over which they
  /// tell one another so. It is freed, too.
  MPI_Comm spare = MPI_COMM_NULL;
  /// The roll calls on it: a counter in memory that others may still read.
  std::shared_ptr<HostRollCall> host_roll_call = nullptr;
};

/// Frees the communicators of earlier epochs, and those that the cells have freed. MPI reuses the
/// identity of a freed communicator for the next one, so no operation may be in progress over it
/// any more: each rank tells the others over it when all operations that it has begun on it are
/// complete, as its last message. A rank that has received this from all others takes part in the
/// roll calls that some have begun, receives all messages that were not received, drops them, and
/// frees the communicator. A communicator is never freed if the ranks have begun different calls
/// over it, if a large message was half sent, or if not all of its ranks have freed it: a rank that
/// fails may free it while others still send to it, or wait for it in a call. For the main thread.
class RetiredCommunicators {
 public:
  /// Whether all operations that this rank has begun over the carrier are complete.
  using IsClean = std::function<bool(const RetiredCommunicator&)>;

  RetiredCommunicators();
  /// It carries no messages of cells from now on.
  void add(RetiredCommunicator carrier);
  /// Does the next steps, as far as the other ranks have done theirs. Does not wait. Call it
  /// repeatedly; communicators that make no progress are tested less and less often.
  void progress(const IsClean& is_clean);

 private:
  /// The last message of a rank: the sender, and how far it has come.
  using LastMessage = std::array<std::uint64_t, 6>;
  struct Carrier {
    RetiredCommunicator of;
    MPI_Request freeing = MPI_REQUEST_NULL;  // a barrier of the ranks that have freed it
    int own = 0, size = 0;
    bool is_clean = false;  // and has told the others
    bool is_lost = false;   // can never be freed
    bool is_even = false;   // all have sent it, and this rank takes part in all roll calls
    LastMessage last_message{};
    std::map<int, LastMessage> heard;         // by rank of the carrier
    std::vector<MPI_Request> requests;        // that must complete before it is freed
    std::vector<CarriedRollCall> roll_calls;  // that must complete before it is freed
    std::list<std::vector<char>> dropped;
    int looks = 0, skips = 0;  // calls of progress() that have tested it, and that will not
  };

  /// Whether no rank uses it any more.
  bool have_all_freed(Carrier& carrier);
  void tell(Carrier& carrier);
  void hear(Carrier& carrier);
  void even_out(Carrier& carrier);
  void drop_messages(Carrier& carrier);
  /// True if it was freed.
  bool step(Carrier& carrier, const IsClean& is_clean);

  int last_tag_ = 0;
  bool is_in_progress_ = false;
  std::list<Carrier> carriers_;
  std::list<Carrier> lost_;  // kept because MPI may still read or write them
};

}  // namespace px::engine
