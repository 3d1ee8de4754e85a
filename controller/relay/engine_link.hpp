#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/relay/frame_run.hpp"
#include "controller/relay/send_budget.hpp"
#include "controller/relay/stand_in_reply.hpp"
#include "net/socket.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The engines' side of a channel. An engine counts as soon as its heart is heard, which may be a
/// moment before its other connections stand, and a connection may break: what cannot be sent yet
/// is held and tried again, for a while.
class EngineLink {
 public:
  /// is_member  whether a uuid is that of a registered engine.
  /// patience   a message waits so long for its engine's connection.
  /// budget     what waits for engines is counted there; null: it is not counted.
  EngineLink(net::Socket socket, std::function<bool(std::string_view)> is_member, Duration patience,
             std::shared_ptr<const SendBudget> budget);

  net::Socket& socket() { return socket_; }
  /// Whether it is the uuid of a registered engine.
  bool has_member(std::string_view engine) const { return is_member_(engine); }
  /// Why the engine is to get no more, as so much waits for it and for all; nothing where it may.
  std::optional<Problem> overload(std::string_view engine) const;

  /// Sends [engine, head..., the runs' frames...].
  void send(std::string_view engine, std::span<const std::string_view> head,
            std::vector<FrameRun> runs, Instant now);
  /// Sends [engine, head..., frames of `message` from index `from` on].
  void send(std::string_view engine, std::span<const std::string_view> head,
            const SharedFrames& message, std::size_t from, Instant now);
  /// What waited too long, and why it is not delivered: its sender is to be told. Without a
  /// listener what is for a registered engine waits as long as that is registered.
  using Undelivered = std::function<void(const MessageToEngine&, const Problem&)>;
  void on_undelivered(Undelivered listener) { undelivered_ = std::move(listener); }
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  /// It has left: what waits for its connection is not delivered.
  void forget(std::string_view engine);

 private:
  struct Held {
    MessageToEngine message;
    std::size_t bytes;
    Instant until;
  };
  bool try_send(const Held& held);
  void hold(Held held, Instant now);
  void let_go(const Held& held);
  bool is_overdue(const Held& held, Instant now) const;
  Problem unreachable(const EngineUuid& engine) const;
  net::SharedUnsentBytes unsent_for(std::string_view engine);
  bool forward(std::string_view engine, std::span<const std::string_view> head,
               std::span<const net::Socket::Run> runs);
  net::Socket socket_;
  const std::function<bool(std::string_view)> is_member_;
  const Duration patience_;
  const std::shared_ptr<const SendBudget> budget_;
  Undelivered undelivered_;
  std::map<std::string, std::deque<Held>, std::less<>> held_;
  Instant held_at_{}, next_try_{};  // the last one; the first ones of the queues
  std::map<std::string, net::SharedUnsentBytes, std::less<>> unsent_for_;
  std::size_t clean_at_;  // when so many are known, those for which nothing waits are forgotten
};

}  // namespace px::controller
