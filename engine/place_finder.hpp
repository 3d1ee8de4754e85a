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

/// Questions in which line the user's code is: the I/O thread asks, and a thread that may take the
/// interpreter's lock, the finder, answers. Where that lock is not to be had in time the I/O thread
/// goes on without an answer. An engine without a finder gets empty answers at once.
class PlaceFinder {
 public:
  using Then = std::function<void(Json place)>;

  /// waker  wakes the I/O thread.
  explicit PlaceFinder(net::Waker waker) : waker_(std::move(waker)) {}

  // For the finder.
  /// Waits for the next question; false at the end, for ever. The finder blocks all signals from
  /// here on: those of the process are for the main thread.
  bool wait();
  /// Answers all that was asked so far.
  void answer(Json place);
  /// The last that the finder does here, after wait() returned false.
  void leave();

  /// The main thread, without the interpreter's lock: no question comes any more. Returns when the
  /// finder has left, or after 2 s: it may read a file whose server does not answer. This object
  /// must outlive it.
  void close();

  // For the I/O thread.
  /// `then` is called from here or from on_time(): with the answer, or with {"holds_lock": true}
  /// where C code keeps the interpreter's lock.
  void ask(Instant now, Then then);
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  static constexpr Duration patience = std::chrono::milliseconds(300);

 private:
  struct Question {
    Then then;
    Instant deadline;
  };

  const net::Waker waker_;
  std::vector<Question> questions_;  // of the I/O thread alone

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool has_finder_ = false;
  bool is_asked_ = false;
  bool is_closed_ = false;
  std::optional<Json> answer_;
};

}  // namespace px::engine
