#pragma once

#include <mpi.h>

#include <list>
#include <vector>

#include "engine/mpi/rank_board.hpp"
#include "engine/mpi_calls/host_memory.hpp"
#include "wire/ids.hpp"

namespace px::engine {

/// Small messages that are sent without waiting for those who receive them, who may be busy for
/// ever: even a small message can wait for its receiver. For the main thread.
class SentNotes {
 public:
  explicit SentNotes(MPI_Comm communicator) : communicator_(communicator) {}
  SentNotes(SentNotes&&) = delete;

  template <typename Note>
  void send(const Note& note, int to, int tag) {
    const char* const bytes = reinterpret_cast<const char*>(&note);
    send_bytes({bytes, bytes + sizeof note}, to, tag);
  }
  void send_bytes(std::vector<char> bytes, int to, int tag);
  /// Forgets what has been received, which also lets the rest go out.
  void clean();
  /// Whether all has been received.
  bool is_empty() const { return on_their_way_.empty(); }

 private:
  struct OnItsWay {
    std::vector<char> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  const MPI_Comm communicator_;
  std::list<OnItsWay> on_their_way_;
};

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
