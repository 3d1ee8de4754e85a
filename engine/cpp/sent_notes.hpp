#pragma once

#include <mpi.h>

#include <list>
#include <vector>

namespace px::engine {

/// Small messages that are sent without waiting for those who receive them, who may be busy for
/// ever: even a small message can wait for its receiver. For the main thread.
class SentNotes {
 public:
  explicit SentNotes(MPI_Comm communicator) : communicator_(communicator) {}
  SentNotes(const SentNotes&) = delete;
  SentNotes& operator=(const SentNotes&) = delete;

  template <typename Note>
  void send(const Note& note, int to, int tag) {
    const char* const bytes = reinterpret_cast<const char*>(&note);
    send_bytes({bytes, bytes + sizeof note}, to, tag);
  }
  /// Forgets what has gone out, which also lets the rest go out.
  void clean();

 private:
  struct OnItsWay {
    std::vector<char> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void send_bytes(std::vector<char> bytes, int to, int tag);

  const MPI_Comm communicator_;
  std::list<OnItsWay> on_their_way_;
};

}  // namespace px::engine
