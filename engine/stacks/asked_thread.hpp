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

/// Questions of the I/O thread to a thread that may wait for Python's lock or for a disk. If its
/// answer does not arrive in time the I/O thread uses a default answer. Without such a thread it
/// gets empty answers at once.
class AskedThread {
 public:
  using Then = std::function<void(Json answer)>;

  /// waker     wakes the I/O thread.
  /// patience  how long to wait for an answer.
  /// if_late   the answer if none arrived in time.
  AskedThread(net::Waker waker, Duration patience, Json if_late)
      : waker_(std::move(waker)), patience_(patience), if_late_(std::move(if_late)) {}

  // For the asked thread.
  /// Waits for the next question; returns false at the end, from then on. The thread blocks all
  /// signals from here on: those of the process are for the main thread.
  bool wait();
  /// Answers all questions so far.
  void answer(Json answer);
  /// The last call of the thread, after wait() returned false.
  void leave();

  /// Any thread: questions are accepted from here on, because a thread will soon call wait().
  void expect();
  /// The main thread, without the interpreter's lock: no further questions. True when the asked
  /// thread has left; false after 2 s: it may be reading a file whose server does not answer. In
  /// that case this object must outlive the thread.
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
  std::vector<Question> questions_;  // used by the I/O thread only

  mutable std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  bool has_thread_ = false;
  bool is_asked_ = false;
  bool is_closed_ = false;
  std::optional<Json> answer_;
};

}  // namespace px::engine
