#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>

namespace px::engine {

/// One communicator of the cells, as this rank sees it.
struct KnownCommunicator {
  MPI_Comm handle = MPI_COMM_NULL;
  std::uint64_t number = 0;    ///< The same on all of its ranks.
  std::uint64_t arrivals = 0;  ///< Collective calls that this rank has come to.
  int own = 0;                 ///< This rank's place in it.
};

/// The communicators on which roll calls are held: those of several ranks. Forgets
/// them when they are freed. For the main thread, between MPI_Init and MPI_Finalize.
class Communicators {
 public:
  /// callers  the ranks of the world that hold roll calls.
  explicit Communicators(std::set<int> callers);
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// Null where no roll call is held: one rank alone, ranks that hold none, an intercommunicator.
  /// Numbers one that is new; all its ranks must ask for new ones in the same order.
  KnownCommunicator* of(MPI_Comm communicator);
  /// Null where this rank does not know it.
  KnownCommunicator* by_number(std::uint64_t number);

 private:
  static int forget(MPI_Comm, int, void* known, void* book);
  std::unique_ptr<KnownCommunicator> describe(MPI_Comm communicator);

  std::set<int> callers_;
  int key_ = MPI_KEYVAL_INVALID;
  std::map<std::uint64_t, std::unique_ptr<KnownCommunicator>> by_number_;
  std::map<std::uint64_t, std::uint64_t> made_of_group_;  // how many there were
};

}  // namespace px::engine
