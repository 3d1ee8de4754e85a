#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "net/socket.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Wakes a Loop from any thread, or from a signal handler. A value: copies wake the same loop. It
/// may outlive the Loop; then it does nothing. A default one does nothing either.
class Waker {
 public:
  Waker() = default;
  /// Lets the present wait of the loop, or the next one, return soon, after it has run the loop's
  /// on_wake() handler. Several calls before that count as one. Async-signal-safe.
  void wake() const;

 private:
  friend class Loop;
  explicit Waker(std::shared_ptr<const int> descriptor) : descriptor_(std::move(descriptor)) {}
  std::shared_ptr<const int> descriptor_;
};

/// The event loop of a thread: it waits for ZeroMQ sockets, file descriptors, wake-ups from other
/// threads and a deadline at the same time. The owner calls wait_until() in a loop and decides by
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
  /// turn: what remains is reported again at once. Handlers run in the order in which their sources
  /// were added, and may watch and forget sources.
  /// The socket must outlive the loop, or be forgotten first. It may be moved meanwhile.
  void watch(Socket& socket, std::function<void()> on_readable);
  /// The same for a file descriptor that becomes readable or hangs up. It is reported again and
  /// again until it is read or forgotten.
  void watch(int descriptor, std::function<void()> on_readable);
  /// Sets the handler that runs on the owner's thread, before all others, after a Waker was used.
  void on_wake(std::function<void()> handler);
  /// Stops watching; the handler is not called any more, not even in the present turn.
  void forget(const Socket& socket);
  void forget(int descriptor);

  /// As a deadline: do not sleep, only run the handlers that are due.
  static constexpr Instant at_once{};
  /// Sleeps until a source is readable, a Waker is used or the deadline passes; then runs the
  /// handlers of all that is ready. Nothing as the deadline means to sleep without a limit. A
  /// signal ends the sleep early. The only place where a server sleeps.
  void wait_until(std::optional<Instant> deadline);

  /// A Waker of this loop. Get it on the owner's thread; use it anywhere.
  Waker waker() const;
  /// A descriptor for an owner that waits for this loop as one thing among others: readable when
  /// wait_until() has something to do. Because ZeroMQ sockets can be readable without it, ask
  /// is_ready() before.
  int descriptor() const;
  /// Whether a ZeroMQ socket is readable already, so that wait_until() would not sleep even if the
  /// descriptor is not readable.
  bool is_ready();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::net
