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
/// heartbeat is answered, which may be a moment before its other connections stand, and a
/// connection may break. If no connection comes within `patience`, or the engine leaves, a message
/// goes to the listener of on_undelivered(), whose task it is to answer it. Once a connection has
/// taken a message it lies in libzmq's queue for that engine, without a limit there, and is not
/// held here: if the connection then breaks it is lost, unless its journal or queue (CallJournal,
/// TaskQueue) sends it again.
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

  /// Sends [engine, head..., frames of `message` from index `from` on], now or when the engine has
  /// a connection. Behind messages that wait here for that engine it waits as well. Never blocks.
  void send(std::string_view engine, std::span<const std::string_view> head,
            const SharedFrames& message, std::size_t from, Instant now);
  /// Told of each message that is not delivered, as [client, engine, delimiter, ...], and why: its
  /// sender is to be answered. Without a listener, as for tasks, messages wait until forget(), and
  /// are then dropped: the TaskQueue knows what it has given to whom.
  using Undelivered = std::function<void(const SharedFrames& call, const Problem&)>;
  void on_undelivered(Undelivered listener) { undelivered_ = std::move(listener); }
  /// Tries again to send what waits here, and tells the listener of what waited too long.
  void on_time(Instant now);
  /// When on_time() has work; nothing while nothing waits.
  std::optional<Instant> next_deadline() const { return waiting_.next_deadline(); }
  /// The engine has left: what waits for its connection is not delivered.
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
  std::size_t clean_at_;  // when so many are known, those for which nothing waits are forgotten
};

}  // namespace px::controller
