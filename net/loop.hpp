#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "net/socket.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Wakes a Loop from any thread, or from a signal handler. A value: copies wake the same loop. It
/// may outlive the Loop; it has no effect after that. A default one has no effect either.
class Waker {
 public:
  Waker() = default;
  /// Makes the present wait of the loop, or the next one, return soon, after it has run the loop's
  /// on_wake() handler. Several calls before that count as one. Async-signal-safe.
  void wake() const;

 private:
  friend class Loop;
  explicit Waker(std::shared_ptr<const int> descriptor) : descriptor_(std::move(descriptor)) {}
  std::shared_ptr<const int> descriptor_;
};

/// The event loop of a thread: it waits for ZeroMQ sockets, file descriptors, wake-ups from other
/// threads and a deadline at the same time. The owner calls wait_until() repeatedly and decides
/// itself what is due; the Loop has no timers. One thread owns it; only Wakers are for other
/// threads.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(Loop&&) noexcept;
  Loop& operator=(Loop&&) noexcept;
  /// Watches a socket. `on_readable` runs inside wait_until() on the owner's thread when the socket
  /// may have messages. It should receive a bounded number of them, so that other sources get their
  /// turn: remaining ones are reported again at once. Handlers run in the order in which their
  /// sources were added, and may watch and forget sources.
  /// The socket must outlive the loop, or be forgotten first. It may be moved in the meantime.
  void watch(Socket& socket, std::function<void()> on_readable);
  /// Like the function above, for a file descriptor that becomes readable or hangs up. It is
  /// reported repeatedly until it is read or forgotten.
  void watch(int descriptor, std::function<void()> on_readable);
  /// Sets the handler that runs on the owner's thread, before all others, after a Waker was used.
  void on_wake(std::function<void()> handler);
  /// Stops watching; the handler is not called any more, not even in the present turn.
  void forget(const Socket& socket);
  void forget(int descriptor);

  /// As a deadline: do not sleep, only run the handlers that are due.
  static constexpr Instant at_once{};
  /// Sleeps until a source is readable, a Waker is used or the deadline passes; runs the handlers
  /// of all ready sources after that. Without a deadline it sleeps without a limit. A signal ends
  /// the sleep early. The only place where a server sleeps.
  void wait_until(std::optional<Instant> deadline);

  /// A Waker of this loop. Get it on the owner's thread; any thread may use it.
  Waker waker() const;
  /// A descriptor for an owner that waits for this loop among other things: readable when
  /// wait_until() has something to do. Because ZeroMQ sockets can be readable without it, call
  /// is_ready() first.
  int descriptor() const;
  /// Whether a ZeroMQ socket is already readable, so that wait_until() would not sleep even if the
  /// descriptor is not readable.
  bool is_ready();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::net
