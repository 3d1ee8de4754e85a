#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "client/requests/short_waits.hpp"
#include "net/loop.hpp"
#include "net/loop_turn.hpp"
#include "wire/time.hpp"

namespace px::client {

/// A thread that waits for an answer does the work of the I/O thread meanwhile, so that the answer
/// wakes no second thread. One thread at a time; where none waits the I/O thread does it.
class IoHelp {
 public:
  /// What who has the turn does.
  struct Work {
    std::function<void()> step;  ///< All that is to be done now, without waiting.
    std::function<std::optional<Instant>()> next_deadline;  ///< Of the next step, whatever comes.
    std::function<bool()> awaits_one;                       ///< One answer, and not more.
  };
  /// loop  where the I/O thread waits. It and the work are only used by who has the turn.
  IoHelp(net::Loop& loop, Work work);

  // For the I/O thread.
  /// Waits until it has the turn, and has it until pass(). False: end() was called; it has the turn
  /// for good.
  bool await();
  /// A thread that waits may go on in its place.
  void pass();

  // For any thread.
  /// A thread waits for an answer as long as this lives.
  class Waiting {
   public:
    /// help  null: nobody can help.
    explicit Waiting(std::shared_ptr<IoHelp> help);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    const std::shared_ptr<IoHelp> help_;
  };
  /// For one that is Waiting: works until `is_met()`; true: it is. False: another thread helps, the
  /// deadline has passed, or the connection ends.
  bool help_until(std::optional<Instant> deadline, const std::function<bool()>& is_met);
  /// Whether the calling thread does the work of the I/O thread right now.
  bool is_helping() const { return helper_ == std::this_thread::get_id(); }
  /// The I/O thread is to have the turn for good.
  void end();
  bool is_ending() const { return is_ending_; }

 private:
  bool get_turn(std::optional<Instant> deadline);
  bool work_until(std::optional<Instant> deadline, const std::function<bool()>& is_met);
  void step() noexcept;
  void sleep_until(std::optional<Instant> deadline, Instant awake_until) const;

  net::Loop& loop_;
  const net::Waker waker_;
  const Work work_;
  net::LoopTurn turn_;
  ShortWaits short_waits_;  // of who has the turn
  std::atomic<bool> is_ending_ = false;
  std::atomic<int> waiting_ = 0;         // threads
  std::atomic<std::thread::id> helper_;  // while it works
  std::mutex guest_;                     // held by the thread that may have the turn
  std::mutex mutex_;                     // held where what changed_ tells changes
  std::condition_variable changed_;      // the turn was passed, or never is any more
};

}  // namespace px::client
