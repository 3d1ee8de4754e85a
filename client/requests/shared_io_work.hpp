#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "net/loop.hpp"
#include "net/loop_turn.hpp"
#include "wire/time.hpp"

namespace px::client {

/// Decides whether a thread that waits for an answer polls instead of sleeping. Waking an idle
/// processor takes longer than passing on a message, so the results of short calls arrive earlier
/// if the thread polls. But polling occupies a processor, so a thread polls only if the last wait
/// took at most `longest`. The class uses no clock. Only the thread that does the I/O thread's work
/// may use the object (see SharedIoWork).
class ShortWaits {
 public:
  /// The longest time that a thread polls before it sleeps.
  static constexpr Duration longest = std::chrono::microseconds(400);

  /// Whether the next wait should poll.
  bool stays_awake() const { return was_short_; }
  /// Records that a wait has ended after this time, with or without an answer.
  void waited(Duration time) { was_short_ = time <= longest; }

 private:
  bool was_short_ = false;
};

/// Lets a thread that waits for an answer do the I/O thread's work in the meantime, so that the
/// answer wakes one thread instead of two (decision 30). Only one thread at a time has the turn,
/// that is, the right to do this work and to use the objects of the I/O thread; if no thread waits,
/// the I/O thread does this work itself. Connection owns the SharedIoWork, and Call uses it.
class SharedIoWork {
 public:
  /// The work of the thread that has the turn.
  struct Steps {
    std::function<void()> step;  ///< Does all that is due now, without waiting.
    std::function<std::optional<Instant>()> next_deadline;  ///< When to call step() again at the
                                                            ///< latest.
    std::function<bool()> awaits_one;                       ///< Whether exactly one answer is
                                                            ///< awaited.
  };
  /// loop  the loop on which the I/O thread waits. Only the thread that has the turn uses the loop
  ///       and the steps.
  SharedIoWork(net::Loop& loop, Steps steps);

  // For the I/O thread.
  /// Waits for the turn, which the I/O thread then keeps until pass(). Returns false if end() was
  /// called; the I/O thread then keeps the turn.
  bool await();
  /// Gives the turn to a waiting thread that has asked for the turn, if there is one.
  void pass();

  // For any thread.
  /// As long as the object exists, its thread counts as a thread that waits for an answer. When the
  /// thread that has the turn gets its answer while other threads still wait, the I/O thread takes
  /// the turn at once.
  class WaitingThread {
   public:
    /// help  the SharedIoWork that counts the thread; if it is null, the thread is not counted.
    explicit WaitingThread(std::shared_ptr<SharedIoWork> help);
    ~WaitingThread();
    WaitingThread(WaitingThread&&) = delete;

   private:
    const std::shared_ptr<SharedIoWork> help_;
  };
  /// Does the I/O thread's work until `is_met()` returns true. The calling thread must be counted
  /// as a WaitingThread. Returns whether the condition is met. If it is not met, the deadline has
  /// passed, the connection ends, or another waiting thread does the work. The caller must then
  /// wait in another way. Signals are blocked during each step and arrive between steps.
  bool help_until(std::optional<Instant> deadline, const std::function<bool()>& is_met);
  /// Whether the calling thread is inside a step of the I/O thread's work.
  bool is_helping() const { return helper_ == std::this_thread::get_id(); }
  /// Gives the turn to the I/O thread for good, because the connection ends. Calls of help_until()
  /// return.
  void end();
  /// Whether end() was called.
  bool is_ending() const { return is_ending_; }

 private:
  bool get_turn(std::optional<Instant> deadline);
  bool work_until(std::optional<Instant> deadline, const std::function<bool()>& is_met);
  void step() noexcept;
  void sleep_until(std::optional<Instant> deadline, Instant awake_until) const;

  net::Loop& loop_;
  const net::Waker waker_;
  const Steps steps_;
  net::LoopTurn turn_;
  ShortWaits short_waits_;  // belongs to the thread that has the turn
  std::atomic<bool> is_ending_ = false;
  std::atomic<int> waiting_ = 0;         // number of waiting threads
  std::atomic<std::thread::id> helper_;  // while it works
  std::mutex guest_;                     // held by the thread that may have the turn
  std::mutex mutex_;                     // held for each change that changed_ announces
  std::condition_variable changed_;      // the turn was passed on, or ended for good
};

}  // namespace px::client
