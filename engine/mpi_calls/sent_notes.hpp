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

}  // namespace px::engine
