#pragma once

#include <mpi.h>

#include <vector>

#include "engine/mpi/rank_board.hpp"
#include "engine/mpi_calls/host_memory.hpp"
#include "engine/mpi_calls/sent_notes.hpp"
#include "wire/ids.hpp"

namespace px::engine {

/// What ranks tell one another about their cells, RankNotes, by messages of a communicator of its
/// own. For the main thread.
class NoteChannel {
 public:
  static constexpr int tag = 4;

  /// own     this rank, in the world.
  /// ranks   of the world, in the order of `notes`.
  /// memory  that of this host, which counts the notes; outlives this.
  NoteChannel(MPI_Comm notes, Rank own, std::vector<int> ranks, HostMemory& memory);

  /// Tells all others, and waits for none of them.
  void tell(const RankNote& note);
  /// Puts what has come on the board.
  /// looks  in vain, until it gives up.
  void hear(RankBoard& board, int looks);
  /// Whether all that was told has been received.
  bool is_empty() const { return sent_.is_empty(); }

 private:
  const MPI_Comm notes_;
  const Rank own_;
  const std::vector<int> ranks_;
  HostMemory& memory_;
  SentNotes sent_;
};

}  // namespace px::engine
