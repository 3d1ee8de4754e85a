#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/ledger/frame_run.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// Messages of one socket whose peer has no connection at the moment. For each peer they leave in
/// the order of their arrival; peers do not wait for each other. Sending is tried again every 5 ms
/// in the first second after the last arrival, because most connections come up in a moment, and
/// every 50 ms after that.
///
/// Each link of a channel has one, on the I/O thread. Uses no socket and no clock.
class WaitingMessages {
 public:
  struct Message {
    std::string peer;
    std::vector<std::string> head;  ///< Without the peer's own frame.
    std::vector<FrameRun> runs;
    std::size_t bytes = 0;           ///< As its sender counts it.
    Instant until = Instant::max();  ///< When it becomes overdue.
  };
  /// Tries to send a message. False: its peer has no connection.
  using Send = std::function<bool(const Message&)>;

  bool empty() const { return queues_.empty(); }
  /// Whether messages wait for this peer, so that further ones must wait behind them.
  bool has(std::string_view peer) const { return queues_.contains(peer); }
  /// Of all messages.
  std::size_t bytes() const { return bytes_; }

  void push(Message message, Instant now);
  /// Tries to send the waiting messages, if that is due. Returns and removes the overdue ones.
  std::vector<Message> on_time(Instant now, const Send& send);
  /// When on_time() has work; nothing if no message waits.
  std::optional<Instant> next_deadline() const;
  /// Removes and returns the messages that wait for this peer.
  std::vector<Message> take(std::string_view peer);

 private:
  std::map<std::string, std::deque<Message>, std::less<>> queues_;
  std::size_t bytes_ = 0;
  Instant last_push_{}, next_try_{};
};

}  // namespace px::controller
