#pragma once

#include "client/requests/client_error.hpp"
#include "os/process_mark.hpp"

namespace px::client {

/// Of what works only in the process that made it, as its I/O thread is there: a forked child has a
/// copy of it, and the sockets in that are the parent's.
class OwnProcess {
 public:
  bool is_here() const { return mark_.is_here(); }
  /// Throws ClientError (lost_peer) in a forked child.
  void check() const {
    if (!is_here()) throw ClientError(ErrorKind::lost_peer, sentence);
  }
  static constexpr const char* sentence =
      "this client was made before os.fork() and works only in the parent process: make a new "
      "Client here";

 private:
  os::ProcessMark mark_;
};

}  // namespace px::client
