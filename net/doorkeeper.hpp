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

/// Watches those who connect to CURVE servers until they have shown that they know the server's
/// key. libzmq takes a frame of any length from anybody in that time, and has no limit for
/// connections. Here who says more than a handshake takes is cut off at once, and of many who say
/// nothing the oldest are. Has a thread of its own, as libzmq's goes on taking bytes meanwhile.
class Doorkeeper {
 public:
  struct Bounds {
    /// Of one connection. A handshake takes 266 bytes until the server's first answer, which it
    /// gives only to who knows its key.
    std::uint64_t bytes = 1024;
    /// Of connections without a key that last longer than `patience`.
    std::size_t count = 256;
    Duration patience = std::chrono::seconds(1);
  };
  Doorkeeper(Context& context, const Bounds& bounds);
  explicit Doorkeeper(Context& context) : Doorkeeper(context, Bounds{}) {}
  /// The sockets that it watches outlive it. In the thread that owns them.
  ~Doorkeeper();
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  /// Before start(). The socket listens, has CURVE and no ConnectionMonitor.
  void watch(Socket& socket);
  void start();
  /// Somebody connected by this descriptor to a socket that has a ConnectionMonitor. Any thread.
  void meet_later(int descriptor);

  /// How many were cut off.
  std::uint64_t cut_off() const { return cut_off_; }

 private:
  struct Door {
    Socket* socket;
    Socket reports;
  };
  /// libzmq closes the descriptor when it likes, and the next one that is opened gets its number.
  struct Comer {
    Instant since;
    ino_t inode;  ///< Of the socket: no other one that is open has it.
  };
  void run();
  void receive(Socket& reports);
  void take_reported();
  void meet(int descriptor);
  void look();
  void look_at_all();
  bool is_over(int descriptor);
  void cut(int descriptor);

  Context& context_;
  const Bounds bounds_;
  std::vector<Door> doors_;
  Loop loop_;
  os::Descriptor poll_;            // of those who come
  std::map<int, Comer> comers_;    // by their descriptors
  Instant next_look_{};
  std::atomic<std::uint64_t> cut_off_ = 0;
  std::atomic<bool> is_finished_ = false;
  std::mutex mutex_;
  std::vector<int> reported_;  // by meet_later(); guarded by mutex_
  std::thread thread_;
};

}  // namespace px::net
