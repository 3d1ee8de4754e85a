#pragma once

#include <cstdint>

namespace px::net {

/// Rejects incoming connections when this process has no file descriptor left for them. Without it
/// libzmq aborts the process when accept() at a Unix socket fails for that reason, because it
/// treats that as a bug; and at a TCP socket it retries without a pause and occupies a processor.
///
/// It works by replacing the C library's accept4() for the whole program: the replacement keeps one
/// descriptor in reserve, accepts the connection with it and closes it at once, so that the peer
/// sees a closed connection and can try again. In an extension module of Python, libzmq uses the C
/// library's own accept4() and there is no such protection; only a kernel whose connection file
/// requests it listens at a Unix socket there.
class AcceptGuard {
 public:
  /// Turns the protection on for the whole process. Call it before anything listens; Socket and
  /// Listeners do. Any thread may call it, also more than once.
  static void start();
  /// The number of connections that were rejected since the start. Any thread.
  static std::uint64_t turned_away();
};

}  // namespace px::net
