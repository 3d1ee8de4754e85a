#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "net/context.hpp"
#include "net/loop.hpp"
#include "net/socket.hpp"
#include "os/descriptor.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Limits the cost of peers that have not authenticated yet. In the handshake of CURVE libzmq
/// accepts a frame of any length from every peer, and it has no limit for the number of
/// connections. A HandshakeLimiter watches each new connection at the kernel, through its
/// descriptor, until the peer has shown that it knows the server's key. It closes a connection at
/// once that sends more bytes than a handshake has; and when too many connections stay silent it
/// closes the oldest.
///
/// The controller's server creates one for its CURVE sockets. It has a separate thread, because
/// libzmq's threads continue to read while the controller's thread is busy.
class HandshakeLimiter {
 public:
  /// Limits for connections that have not authenticated.
  struct Bounds {
    /// The most bytes that one connection may send. A handshake has 266 bytes up to the server's
    /// first answer, which the server gives only to a peer that knows its key.
    std::uint64_t bytes = 1024;
    /// The most connections that may last longer than `patience`; beyond that the oldest are
    /// closed.
    std::size_t count = 256;
    Duration patience = std::chrono::seconds(1);
  };
  /// context  of the sockets that it will watch.
  HandshakeLimiter(Context& context, const Bounds& bounds);
  explicit HandshakeLimiter(Context& context) : HandshakeLimiter(context, Bounds{}) {}
  /// Stops the thread. The watched sockets must still exist; call it on the thread that owns them.
  ~HandshakeLimiter();
  HandshakeLimiter(HandshakeLimiter&&) = delete;

  /// Adds a socket; only before start(). It must already listen, be a CURVE server and have no
  /// ConnectionMonitor.
  void watch(Socket& socket);
  /// Starts the thread. From now on the watched sockets' new connections are reported to it.
  void start();
  /// Adds a connection that a socket with a ConnectionMonitor has accepted; the monitor reports the
  /// descriptor. Any thread.
  void add_later(int descriptor);

  /// The number of connections that were closed. Any thread.
  std::uint64_t cut_off() const { return cut_off_; }

 private:
  /// A watched socket, and the socket on which libzmq reports its new connections.
  struct WatchedSocket {
    Socket* socket;
    Socket reports;
  };
  /// A connection that has not authenticated. libzmq closes its descriptor at any time, and the
  /// next file that is opened gets the same number: the inode distinguishes them.
  struct NewConnection {
    Instant since;
    ino_t inode;  ///< Of the connection: no other open one has it.
  };
  void run();
  void receive(Socket& reports);
  void take_reported();
  void add(int descriptor);
  void look();
  void look_at_all();
  bool is_over(int descriptor);
  void disconnect(const os::Descriptor& connection);

  Context& context_;
  const Bounds bounds_;
  std::vector<WatchedSocket> sockets_;
  Loop loop_;
  os::Descriptor poll_;                       // of the connections
  std::map<int, NewConnection> connections_;  // by their descriptors
  Instant next_look_{};
  std::atomic<std::uint64_t> cut_off_ = 0;
  std::atomic<bool> is_finished_ = false;
  std::mutex mutex_;
  std::vector<int> reported_;  // from add_later(); guarded by mutex_
  std::thread thread_;
};

}  // namespace px::net
