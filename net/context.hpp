#pragma once

#include <cstddef>
#include <memory>

#include "wire/error.hpp"

namespace px::net {

/// The ZeroMQ context of a process: owns libzmq's I/O threads. Sockets of one context can connect
/// to each other by "inproc://". Any thread may create sockets in it. It must outlive its sockets.
/// Its destruction does not wait for messages that are not sent, except those of sockets with
/// SocketOptions::linger.
class Context {
 public:
  /// io_threads  the number of threads that libzmq uses for its sockets' I/O.
  explicit Context(int io_threads = 1);
  ~Context();
  Context(Context&&) = delete;

  /// Used only by net/: the zmq::context_t.
  void* handle() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Raises or lowers the number of sockets that `context` can have to `count`. Precondition: it has
/// no sockets yet.
Result<void> allow_sockets(Context& context, std::size_t count);

}  // namespace px::net
