#include <utility>

#include "engine/mpi_calls/sent_notes.hpp"

namespace px::engine {

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
