#pragma once

#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "client/requests/composer.hpp"
#include "wire/time.hpp"

namespace px::client {

/// The queue of messages from submitting threads to the I/O thread, which sends them in the order
/// of the calls.
///
/// Waking the I/O thread costs more than sending a message. So only the first of several messages
/// in quick succession wakes the I/O thread. If the I/O thread has sent messages, it checks the
/// queue again after `patience`, and sends the messages that were posted in the meantime. A thread
/// that waits for an answer calls hurry(), so that its messages are sent at once. Uses no clock.
class Outbox {
 public:
  /// The longest time that a posted message waits to be sent.
  static constexpr Duration patience = std::chrono::milliseconds(1);

  /// wake  makes the I/O thread call take() soon; called on any thread.
  explicit Outbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // ---- for any thread
  /// Adds messages to the end of the queue. They are sent together.
  void post(std::vector<OutgoingRequest> messages) {
    {
      const std::lock_guard lock{mutex_};
      posted_.insert(posted_.end(), std::make_move_iterator(messages.begin()),
                     std::make_move_iterator(messages.end()));
      if (is_woken_ || look_at_) return;
      is_woken_ = true;
    }
    wake_();
  }
  /// Makes the I/O thread send the posted messages at once. A thread calls hurry() before it waits
  /// for an answer.
  void hurry() {
    {
      const std::lock_guard lock{mutex_};
      if (is_woken_ || posted_.empty()) return;
      is_woken_ = true;
    }
    wake_();
  }

  // ---- for the I/O thread, which calls take() in each of its turns, and at next_deadline()
  /// Returns the messages to send now and empties the queue.
  /// is_all_answered  whether all requests of the client are answered. In this case the next posted
  ///                  message wakes the I/O thread, because it is probably a single message.
  std::vector<OutgoingRequest> take(Instant now, bool is_all_answered) {
    const std::lock_guard lock{mutex_};
    is_woken_ = false;
    if (!posted_.empty())
      look_at_ = now + patience;
    else if (is_all_answered || (look_at_ && now >= *look_at_))
      look_at_.reset();
    return std::exchange(posted_, {});
  }
  /// When the I/O thread must call take() again, even if nothing wakes this thread.
  std::optional<Instant> next_deadline() const {
    const std::lock_guard lock{mutex_};
    return look_at_;
  }

 private:
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<OutgoingRequest> posted_;
  bool is_woken_ = false;           // take() will be called soon
  std::optional<Instant> look_at_;  // take() is called by then, so posting need not wake the thread
};

}  // namespace px::client
