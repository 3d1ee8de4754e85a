#include "engine/mpi_calls/note_channel.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace px::engine {

NoteChannel::NoteChannel(MPI_Comm notes, Rank own, std::vector<int> ranks, HostMemory& memory)
    : notes_(notes), own_(own), ranks_(std::move(ranks)), memory_(memory), sent_(notes) {}

void NoteChannel::tell(const RankNote& note) {
  const std::string bytes = to_bytes(note);
  memory_.sends_note();
  for (std::size_t place = 0; place < ranks_.size(); ++place)
    if (ranks_[place] != own_.value)
      sent_.send_bytes({bytes.begin(), bytes.end()}, static_cast<int>(place), tag);
}

void NoteChannel::hear(Domains& domains, int looks) {
  while (looks > 0) {
    int has_come = 0, size = 0;
    MPI_Status status;
    PMPI_Iprobe(MPI_ANY_SOURCE, tag, notes_, &has_come, &status);
    if (!has_come) {
      --looks;
      continue;
    }
    PMPI_Get_count(&status, MPI_BYTE, &size);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    PMPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, tag, notes_, MPI_STATUS_IGNORE);
    memory_.heard_note(status.MPI_SOURCE);
    if (auto note = note_from(bytes)) domains.hear(*note, Clock::now());
  }
  sent_.clean();
}

void SentNotes::send_bytes(std::vector<char> bytes, int to, int tag) {
  clean();
  OnItsWay& note = on_their_way_.emplace_back();
  note.bytes = std::move(bytes);
  PMPI_Issend(note.bytes.data(), static_cast<int>(note.bytes.size()), MPI_BYTE, to, tag,
              communicator_, &note.request);
}

void SentNotes::clean() {
  on_their_way_.remove_if([](OnItsWay& note) {
    int is_done = 0;
    PMPI_Test(&note.request, &is_done, MPI_STATUS_IGNORE);
    return is_done != 0;
  });
}

}  // namespace px::engine
