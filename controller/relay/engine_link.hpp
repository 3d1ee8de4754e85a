#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/ledger/stand_in_reply.hpp"
#include "controller/relay/send_budget.hpp"
#include "controller/relay/waiting_messages.hpp"
#include "net/socket.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The engines' side of a channel. It sends requests to engines, and keeps those whose engine has
/// no connection on this channel (WaitingMessages): an engine is registered as soon as its
/// heartbeat is answered, which may be a moment before its other connections are up, and a
/// connection may break. If no connection comes up within `patience`, or the engine leaves, a
/// message is passed to the listener of on_undelivered(), which must answer it. A message that a
/// connection has taken is in libzmq's queue for that engine, which has no limit, and is not kept
/// here: if the connection breaks after that, the message is lost, unless its journal or queue
/// (CallJournal, TaskQueue) sends it again.
///
/// Its bytes, here and in libzmq, are counted against a SendBudget. The I/O thread owns it.
class EngineLink {
 public:
  /// socket     a ROUTER that is_mandatory. (For the task scheme `pure` it is a DEALER, and
  ///            nothing is sent through the link.)
  /// is_member  whether a uuid is that of a registered engine.
  /// patience   how long a message waits for its engine's connection.
  /// budget     counts the bytes that wait for engines; null: they are not counted, as for tasks,
  ///            whose number and bytes the TaskQueue limits.
  EngineLink(net::Socket socket, std::function<bool(std::string_view)> is_member, Duration patience,
             std::shared_ptr<const SendBudget> budget);

  /// For receiving the engines' replies.
  net::Socket& socket() { return socket_; }
  /// Whether it is the uuid of a registered engine.
  bool has_member(std::string_view engine) const { return is_member_(engine); }
  /// The reason why the engine must get no more: too much waits for it and for all. Nothing if it
  /// may. Call it before send(), which itself refuses nothing.
  std::optional<Problem> overload(std::string_view engine) const;

  /// Sends [engine, head..., frames of `message` from index `from` on], now or when the engine has
  /// a connection. It never overtakes messages that wait here for that engine. Never blocks.
  void send(std::string_view engine, std::span<const std::string_view> head,
            const SharedFrames& message, std::size_t from, Instant now);
  /// Called with each message that is not delivered, as [client, engine, delimiter, ...], and the
  /// reason: its sender must be answered. Without a listener, as for tasks, messages wait until
  /// forget(), and are dropped then: the TaskQueue knows which tasks it has given to which engine.
  using Undelivered = std::function<void(const SharedFrames& call, const Problem&)>;
  void on_undelivered(Undelivered listener) { undelivered_ = std::move(listener); }
  /// Tries again to send waiting messages, and passes the listener those that waited too long.
  void on_time(Instant now);
  /// When on_time() has work; nothing if no message waits.
  std::optional<Instant> next_deadline() const { return waiting_.next_deadline(); }
  /// The engine has left: messages that wait for its connection are not delivered.
  void forget(std::string_view engine);

 private:
  using Message = WaitingMessages::Message;
  bool try_send(const Message& message);
  void let_go(const Message& message);
  void give_up(const std::vector<Message>& messages);
  Problem unreachable(const std::string& engine) const;
  net::SharedUnsentBytes unsent_for(std::string_view engine);
  bool forward(std::string_view engine, std::span<const std::string_view> head,
               std::span<const net::Socket::Run> runs);
  net::Socket socket_;
  const std::function<bool(std::string_view)> is_member_;
  const Duration patience_;
  const std::shared_ptr<const SendBudget> budget_;
  Undelivered undelivered_;
  WaitingMessages waiting_;
  std::map<std::string, net::SharedUnsentBytes, std::less<>> unsent_for_;
  std::size_t clean_at_;  // when this many are known, those without waiting messages are forgotten
};

}  // namespace px::controller
