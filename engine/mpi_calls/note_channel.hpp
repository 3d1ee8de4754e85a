#pragma once

#include <mpi.h>

#include <list>
#include <vector>

#include "engine/mpi/domains.hpp"
#include "engine/mpi/rank_board.hpp"
#include "engine/mpi_calls/host_memory.hpp"
#include "wire/ids.hpp"

namespace px::engine {

/// Small messages that are sent without waiting for their receivers, which may be busy for ever:
/// even a small message may wait for its receiver. For the main thread.
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
  /// Forgets the messages that were received, which also makes MPI send the rest.
  void clean();
  /// Whether all were received.
  bool is_empty() const { return on_their_way_.empty(); }

 private:
  struct OnItsWay {
    std::vector<char> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  const MPI_Comm communicator_;
  std::list<OnItsWay> on_their_way_;
};

/// The notes of ranks to one another about their cells, RankNotes, as messages of a separate
/// communicator. For the main thread.
class NoteChannel {
 public:
  static constexpr int tag = 4;

  /// own     the world rank of this process.
  /// ranks   the world ranks, in the order of `notes`.
  /// memory  of this host; it counts the notes, and outlives this object.
  NoteChannel(MPI_Comm notes, Rank own, std::vector<int> ranks, HostMemory& memory);

  /// Sends the note to all others, and waits for none of them.
  void tell(const RankNote& note);
  /// Puts the notes that have arrived on the boards of their domains.
  /// looks  the number of unsuccessful tests after which it gives up.
  void hear(Domains& domains, int looks);
  /// Whether all notes were received.
  bool is_empty() const { return sent_.is_empty(); }

 private:
  const MPI_Comm notes_;
  const Rank own_;
  const std::vector<int> ranks_;
  HostMemory& memory_;
  SentNotes sent_;
};

}  // namespace px::engine
