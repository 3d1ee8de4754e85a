#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "net/loop.hpp"
#include "os/descriptor.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Who takes the turns of a Loop: its own thread, the keeper, or a guest: a thread that would only
/// wait for what the keeper brings. While guests come back again and again no thread has to wake
/// another one. A guest that has left for longer than `patience` is no longer waited for, and the
/// keeper goes on.
class TurnGate {
 public:
  static constexpr Duration patience = std::chrono::milliseconds(1);

  /// waker  wakes the loop.
  explicit TurnGate(Waker waker);

  // ---- for the keeper
  /// Before each of its turns: waits while guests have the loop.
  void begin_turn();
  void end_turn();
  /// Any thread: guests are not let in any more, and who is in leaves soon. The keeper does not
  /// wait for them longer than that.
  void close();

  // ---- for guests
  /// Runs `turn` again and again until `is_over` says so, which is asked before each one. False: it
  /// did not run, as another guest has the loop, or it is closed: the thread is to wait otherwise.
  bool serve(const std::function<bool()>& is_over, const std::function<void()>& turn);
  /// Any thread: whoever has the loop begins a turn soon; when guests are only away for a moment
  /// one begins within `patience`.
  void wake();


 private:
  bool enter();
  void leave();
  bool is_closed();
  void sleep();
  void set_alarm(Duration delay);

  const Waker waker_;
  const os::Descriptor timer_;  // wakes the keeper
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_guest_time_ = false;  // the keeper stays away
  bool is_guest_in_ = false, is_guest_waiting_ = false, is_keeper_in_ = false;
  bool is_alarm_set_ = false, is_closed_ = false;
  Instant left_at_{};
};

}  // namespace px::net
