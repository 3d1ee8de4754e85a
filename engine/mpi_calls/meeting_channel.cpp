#include "engine/mpi_calls/meeting_channel.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace px::engine {

static_assert(std::is_trivially_copyable_v<MeetingNote>);

MeetingChannel::MeetingChannel(MPI_Comm notes, Rank own, std::vector<int> ranks)
    : notes_(notes), ranks_(std::move(ranks)), sent_(notes), meetings_(own) {}

void MeetingChannel::come(std::uint64_t meeting, const std::vector<Rank>& members) {
  send(meetings_.come(meeting, members));
}

void MeetingChannel::leave(std::uint64_t meeting) {
  send(meetings_.leave(meeting));
}

bool MeetingChannel::take_met(std::uint64_t meeting) {
  if (!meetings_.have_met(meeting)) return false;
  meetings_.forget(meeting);
  return true;
}

void MeetingChannel::hear() {
  for (;;) {
    int has_come = 0;
    MPI_Status status;
    PMPI_Iprobe(MPI_ANY_SOURCE, tag, notes_, &has_come, &status);
    if (!has_come) break;
    MeetingNote note;
    PMPI_Recv(&note, sizeof note, MPI_BYTE, status.MPI_SOURCE, tag, notes_, MPI_STATUS_IGNORE);
    const Rank from{ranks_[static_cast<std::size_t>(status.MPI_SOURCE)]};
    send(meetings_.hear(from, note));
  }
  send(meetings_.ask_again());
  sent_.clean();
}

void MeetingChannel::send(const Meetings::Letters& letters) {
  for (const Meetings::Letter& letter : letters) {
    const auto place = std::find(ranks_.begin(), ranks_.end(), letter.to.value) - ranks_.begin();
    sent_.send(letter.note, static_cast<int>(place), tag);
  }
}

}  // namespace px::engine
