#pragma once

#include <memory>

namespace px {

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

}  // namespace px
