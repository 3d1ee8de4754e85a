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
/// the order in which they came; peers do not wait for each other. Whether one goes is tried again
/// every 5 ms in the first second after the last one came, as connections mostly stand in a moment,
/// and then every 50 ms.
///
/// Each link of a channel has one, for the I/O thread. Sees no socket and no clock.
class WaitingMessages {
 public:
  struct Message {
    std::string peer;
    std::vector<std::string> head;  ///< Without the peer's own frame.
    std::vector<FrameRun> runs;
    std::size_t bytes = 0;           ///< As its sender counts it.
    Instant until = Instant::max();  ///< Then it is overdue.
  };
  /// Tries to send one. False: its peer has no connection.
  using Send = std::function<bool(const Message&)>;

  bool empty() const { return queues_.empty(); }
  /// Whether something waits for this peer: what comes now has to wait behind it.
  bool has(std::string_view peer) const { return queues_.contains(peer); }
  /// Of all messages.
  std::size_t bytes() const { return bytes_; }

  void push(Message message, Instant now);
  /// Tries to send what is here, if that is due. Returns what was overdue, and is here no more.
  std::vector<Message> on_time(Instant now, const Send& send);
  /// When on_time() has work; nothing while nothing is here.
  std::optional<Instant> next_deadline() const;
  /// Takes out what waits for this peer.
  std::vector<Message> take(std::string_view peer);

 private:
  std::map<std::string, std::deque<Message>, std::less<>> queues_;
  std::size_t bytes_ = 0;
  Instant last_push_{}, next_try_{};
};

}  // namespace px::controller
