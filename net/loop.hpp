#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "net/socket.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Wakes a Loop from any thread, or from a signal handler. A value; may outlive the Loop.
class Waker {
 public:
  Waker() = default;
  /// The next (or the present) wait of the loop returns soon. Async-signal-safe.
  void wake() const;

 private:
  friend class Loop;
  explicit Waker(std::shared_ptr<const int> descriptor) : descriptor_(std::move(descriptor)) {}
  std::shared_ptr<const int> descriptor_;
};

/// Where a thread waits: for its sockets, for a deadline, for other threads. One thread owns it.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(Loop&&) noexcept;
  Loop& operator=(Loop&&) noexcept;
  /// `on_readable` runs inside wait_until() on the owner's thread when `socket` may have messages.
  /// It should receive a bounded number of them: what remains is reported again at once.
  /// The socket must outlive the loop, or be forgotten first.
  void watch(Socket& socket, std::function<void()> on_readable);
  /// The same for a file descriptor that becomes readable (or has hung up).
  void watch(int descriptor, std::function<void()> on_readable);
  /// What woke the loop by a Waker; runs on the owner's thread.
  void on_wake(std::function<void()> handler);
  void forget(const Socket& socket);
  void forget(int descriptor);

  /// The deadline of a wait that does not sleep.
  static constexpr Instant at_once{};
  /// Sleeps until something is readable, somebody wakes it or the deadline passes; then runs the
  /// handlers. The only place where a server sleeps. A signal ends the sleep early.
  void wait_until(std::optional<Instant> deadline);

  Waker waker() const;
  /// For an owner that waits for other things as well: readable when wait_until() has something to
  /// do, where is_ready() was false.
  int descriptor() const;
  /// Whether wait_until() would not sleep, whatever the descriptor says.
  bool is_ready();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::net
