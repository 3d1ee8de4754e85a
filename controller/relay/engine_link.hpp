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

/// The engines' side of a channel. It sends requests to engines, and holds those whose engine has
/// no connection on this channel: an engine is registered as soon as its heartbeat is answered,
/// which may be a moment before its other connections stand, and a connection may break.
///
/// A message lies here from send() until the engine's connection takes it, which is tried again
/// every 5 to 50 ms, in the order of sending, for each engine by itself. If no connection
/// comes within `patience`, or the engine leaves, it goes to the listener of on_undelivered(),
/// whose task it is to answer it. Once a connection has taken a message it lies in libzmq's queue
/// for that engine, without a limit there, and is not held here: if the connection then breaks it
/// is lost, unless its journal or queue (CallJournal, TaskQueue) sends it again.
///
/// Its bytes, here and in libzmq, are counted against a SendBudget. The I/O thread owns it.
class EngineLink {
 public:
  /// socket     a ROUTER that is_mandatory. (For the task scheme `pure` it is a DEALER, and
  ///            nothing is sent through the link.)
  /// is_member  whether a uuid is that of a registered engine.
  /// patience   a message waits so long for its engine's connection.
  /// budget     what waits for engines is counted there; null: it is not counted, as for tasks,
  ///            whose number and bytes the TaskQueue bounds.
  EngineLink(net::Socket socket, std::function<bool(std::string_view)> is_member, Duration patience,
             std::shared_ptr<const SendBudget> budget);

  /// For receiving the engines' replies.
  net::Socket& socket() { return socket_; }
  /// Whether it is the uuid of a registered engine.
  bool has_member(std::string_view engine) const { return is_member_(engine); }
  /// Why the engine is to get no more, as so much waits for it and for all; nothing where it may.
  /// To be asked before send(), which itself refuses nothing.
  std::optional<Problem> overload(std::string_view engine) const;

  /// Sends [engine, head..., the runs' frames...], now or when the engine has a connection. Behind
  /// messages that are held for that engine it waits as well. Never blocks.
  void send(std::string_view engine, std::span<const std::string_view> head,
            std::vector<FrameRun> runs, Instant now);
  /// Sends [engine, head..., frames of `message` from index `from` on].
  void send(std::string_view engine, std::span<const std::string_view> head,
            const SharedFrames& message, std::size_t from, Instant now);
  /// Told of each message that is not delivered, and why: its sender is to be answered. Without a
  /// listener, as for tasks, messages for an engine wait as long as that is registered, and are
  /// then dropped: the TaskQueue knows what it has given to whom.
  using Undelivered = std::function<void(const MessageToEngine&, const Problem&)>;
  void on_undelivered(Undelivered listener) { undelivered_ = std::move(listener); }
  /// Tries again to send what is held, and tells the listener of what waited too long.
  void on_time(Instant now);
  /// When on_time() has work; nothing while nothing is held.
  std::optional<Instant> next_deadline() const;
  /// The engine has left: what waits for its connection is not delivered.
  void forget(std::string_view engine);

 private:
  struct Held {
    MessageToEngine message;
    std::size_t bytes;  // as the budget counts it
    Instant until;      // then it is overdue
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
  /// By engine; the oldest first.
  std::map<std::string, std::deque<Held>, std::less<>> held_;
  Instant held_at_{}, next_try_{};  // the last one; the first ones of the queues
  std::map<std::string, net::SharedUnsentBytes, std::less<>> unsent_for_;
  std::size_t clean_at_;  // when so many are known, those for which nothing waits are forgotten
};

}  // namespace px::controller
