#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "net/loop.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Questions of the I/O thread to a thread that may wait, for Python's lock or for a disk. If its
/// answer does not come in time the I/O thread goes on with another one. Without such a thread it
/// gets empty answers at once.
class AskedThread {
 public:
  using Then = std::function<void(Json answer)>;

  /// waker     wakes the I/O thread.
  /// patience  for an answer.
  /// if_late   the answer where none came in time.
  AskedThread(net::Waker waker, Duration patience, Json if_late)
      : waker_(std::move(waker)), patience_(patience), if_late_(std::move(if_late)) {}

  // For the asked thread.
  /// Waits for the next question; false at the end, for ever. The thread blocks all signals from
  /// here on: those of the process are for the main thread.
  bool wait();
  /// Answers all that was asked so far.
  void answer(Json answer);
  /// The last that the thread does here, after wait() returned false.
  void leave();

  /// Any thread: questions are taken from here on, as a thread will wait() soon.
  void expect();
  /// The main thread, without the interpreter's lock: no question comes any more. True when the
  /// asked thread has left; false after 2 s: it may read a file whose server does not answer. Then
  /// this object must outlive it.
  bool close();

  // For the I/O thread.
  /// `then` is called from here or from on_time(), with the answer.
  void ask(Instant now, Then then);
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  struct Question {
    Then then;
    Instant deadline;
  };

  const net::Waker waker_;
  const Duration patience_;
  const Json if_late_;
  std::vector<Question> questions_;  // of the I/O thread alone

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool has_thread_ = false;
  bool is_asked_ = false;
  bool is_closed_ = false;
  std::optional<Json> answer_;
};

}  // namespace px::engine
