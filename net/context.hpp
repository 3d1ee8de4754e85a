#pragma once

#include <cstddef>
#include <memory>

#include "wire/error.hpp"

namespace px::net {

/// The ZeroMQ context of a process: its I/O threads. Must outlive its sockets.
class Context {
 public:
  explicit Context(int io_threads = 1);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// For net/ alone: the zmq::context_t.
  void* handle() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Lets `context` have `count` sockets. Precondition: it has none yet.
/// errors  system: libzmq allows fewer; says how many.
Result<void> allow_sockets(Context& context, std::size_t count);

}  // namespace px::net
