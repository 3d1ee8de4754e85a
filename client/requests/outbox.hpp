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

/// What any thread posts and the I/O thread sends, in the order of the calls. To wake that thread
/// costs more than to send a message: who posts soon after another message does not wake it, and
/// what was posted waits for its next turn, no longer than `patience`. Whoever waits for an answer
/// hurries. Sees no clock.
class Outbox {
 public:
  static constexpr Duration patience = std::chrono::milliseconds(1);

  /// wake  lets the I/O thread call take() soon; any thread calls it.
  explicit Outbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // ---- for any thread
  /// Messages that are posted together are sent together.
  void post(std::vector<Outgoing> messages) {
    {
      const std::lock_guard lock{mutex_};
      posted_.insert(posted_.end(), std::make_move_iterator(messages.begin()),
                     std::make_move_iterator(messages.end()));
      if (is_woken_ || look_at_) return;
      is_woken_ = true;
    }
    wake_();
  }
  /// Somebody waits: what was posted is sent now.
  void hurry() {
    {
      const std::lock_guard lock{mutex_};
      if (is_woken_ || posted_.empty()) return;
      is_woken_ = true;
    }
    wake_();
  }

  // ---- for the I/O thread, which calls take() in each of its turns, and by next_deadline()
  /// is_all_answered  nothing is awaited: what is posted next is not one of many.
  std::vector<Outgoing> take(Instant now, bool is_all_answered) {
    const std::lock_guard lock{mutex_};
    is_woken_ = false;
    if (!posted_.empty())
      look_at_ = now + patience;
    else if (is_all_answered || (look_at_ && now >= *look_at_))
      look_at_.reset();
    return std::exchange(posted_, {});
  }
  std::optional<Instant> next_deadline() const {
    const std::lock_guard lock{mutex_};
    return look_at_;
  }

 private:
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<Outgoing> posted_;
  bool is_woken_ = false;            // take() is going to be called
  std::optional<Instant> look_at_;  // it is by then, too; nothing: nobody posts at present
};

}  // namespace px::client
