#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/socket.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// Frames `from` .. `to`-1 of a message, held.
struct FrameRun {
  SharedFrames frames;
  std::size_t from, to;
};

/// As Socket::forward() takes them; they hold nothing themselves.
std::vector<net::Socket::Run> runs_to_send(const std::vector<FrameRun>& runs);

/// From one try to send what a full socket refused to the next.
inline constexpr Duration between_tries = std::chrono::milliseconds(5);

/// The engines' side of a channel. An engine counts as soon as its heart is heard, which may be a
/// moment before its other connections stand: what cannot be sent yet is held back and tried again.
class EngineLink {
 public:
  /// `is_member`: whether a uuid is that of a registered engine. What is for others and cannot be
  /// sent is dropped, as it always was.
  EngineLink(net::Socket socket, std::function<bool(std::string_view)> is_member);

  net::Socket& socket() { return socket_; }
  /// Whether it is the uuid of a registered engine.
  bool has_member(std::string_view engine) const { return is_member_(engine); }
  /// From now on what waits for engines that do not read is counted, of single messages.
  /// most_bytes  of all engines together; see is_full().
  void bound(std::size_t most_bytes);
  /// Whether the engine shall get no more: so much waits for all engines, and a part of that for
  /// this one. Never without a bound.
  bool is_full(std::string_view engine) const;
  /// What waits for it, in bytes.
  std::size_t waiting_for(std::string_view engine) const;

  /// Sends [engine, head..., the runs' frames...].
  void send(std::string_view engine, std::span<const std::string_view> head,
            std::vector<FrameRun> runs, Instant now);
  /// Sends [engine, head..., frames of `message` from index `from` on].
  void send(std::string_view engine, std::span<const std::string_view> head,
            const SharedFrames& message, std::size_t from, Instant now);
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  /// What waits for it is dropped.
  void forget(std::string_view engine);

 private:
  struct Held {
    std::vector<std::string> idents;
    std::vector<FrameRun> runs;
    Instant until;
  };
  bool try_send(const Held& held);
  bool forward(std::string_view engine, std::span<const std::string_view> idents,
               const SharedFrames& message, std::size_t from);
  net::Socket socket_;
  std::function<bool(std::string_view)> is_member_;
  std::map<std::string, std::deque<Held>, std::less<>> held_;
  Instant next_try_{};
  std::size_t most_bytes_ = 0;
  net::SharedUnsentBytes unsent_;  // null: nothing is counted
  std::map<std::string, net::SharedUnsentBytes, std::less<>> unsent_for_;
};

}  // namespace px::controller
