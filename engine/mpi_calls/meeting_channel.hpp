#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "engine/mpi/meetings.hpp"
#include "engine/mpi_calls/note_channel.hpp"
#include "wire/ids.hpp"

namespace px::engine {

/// The Meetings of this rank, whose notes are messages of the communicator that carries RankNotes,
/// with a tag of their own. For one thread at a time.
class MeetingChannel {
 public:
  static constexpr int tag = 5;

  /// own    this rank, in the world.
  /// ranks  of the world, in the order of `notes`.
  MeetingChannel(MPI_Comm notes, Rank own, std::vector<int> ranks);

  /// See Meetings. Waits for nobody.
  void come(std::uint64_t meeting, const std::vector<Rank>& members);
  void leave(std::uint64_t meeting);
  /// Hears what has come, and answers it.
  void hear();
  bool is_in(std::uint64_t meeting) const { return meetings_.is_in(meeting); }
  bool is_bound(std::uint64_t meeting) const { return meetings_.is_bound(meeting); }
  /// Whether they have met; true only once.
  bool take_met(std::uint64_t meeting);

 private:
  void send(const Meetings::Letters& letters);

  const MPI_Comm notes_;
  const std::vector<int> ranks_;
  SentNotes sent_;
  Meetings meetings_;
};

}  // namespace px::engine
