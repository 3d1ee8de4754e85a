#pragma once

#include "client/requests/client_error.hpp"
#include "os/process_mark.hpp"

namespace px::client {

/// A guard for objects that work only in the process that made them, because their I/O thread
/// exists only there. A forked child has a copy of the object, but its sockets are the parent's,
/// and a mutex may stay locked permanently. The guard remembers the process in which it was
/// constructed.
class OwnProcess {
 public:
  /// Whether this is the process that has made the object. In forked children of that process, the
  /// result is false.
  bool is_here() const { return mark_.is_here(); }
  /// Throws ClientError (lost_peer) in a forked child.
  void check() const {
    if (!is_here()) throw ClientError(ErrorKind::lost_peer, sentence);
  }
  /// The message of the exception.
  static constexpr const char* sentence =
      "this client was made before os.fork() and works only in the parent process: make a new "
      "Client here";

 private:
  os::ProcessMark mark_;
};

}  // namespace px::client
