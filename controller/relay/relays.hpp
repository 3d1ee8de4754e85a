#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "controller/relay/broadcast_relay.hpp"
#include "controller/relay/call_keeper.hpp"
#include "controller/relay/client_link.hpp"
#include "controller/relay/engine_link.hpp"
#include "controller/relay/output_publisher.hpp"
#include "controller/relay/relay_context.hpp"
#include "net/socket.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// Brings what engines publish (output, results, busy and idle) to all clients, as it came and
/// without a check of its signature: clients verify it themselves. The hub and the journal of calls
/// hear of output. Nothing waits here: what a client does not read waits or is dropped in the
/// OutputPublisher. The I/O thread owns it, as all classes of this file.
class OutputRelay {
 public:
  /// on_shutdown  is called when an engine said, in a signed message, that it shuts down.
  /// calls        hears of what is to be kept with the calls.
  OutputRelay(RelayContext& shared, net::Socket& engines, OutputPublisher& clients,
              std::function<void(const EngineUuid&)> on_shutdown, CallKeeper& calls);
  /// The engines' socket is readable: takes up to messages_per_turn.
  void receive();

 private:
  void record(const SharedFrames& frames, const Envelope& envelope, std::string_view type);
  RelayContext& shared_;
  net::Socket& engines_;
  OutputPublisher& clients_;
  std::function<void(const EngineUuid&)> on_shutdown_;
  CallKeeper& calls_;
};

/// The task channel with the scheme `pure`, in place of TaskRelay: the engines' socket is a DEALER,
/// which deals the tasks out in turn without regard to load, dependencies or retries. There is no
/// journal. A task lies in `held_` only while no engine is connected; after that it lies in
/// libzmq's queue for its engine, and is lost if that engine dies.
class PureTaskRelay {
 public:
  /// most_bytes  of tasks that wait for the first engine; further ones are answered by the error
  ///             Overloaded.
  PureTaskRelay(RelayContext& shared, net::Socket& client, net::Socket& engines,
                std::size_t most_bytes);
  /// The clients' socket, or the engines', is readable: takes up to messages_per_turn.
  void receive_requests();
  void receive_replies();
  /// Tries again to send what came while no engine was there.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  bool try_send(const Frames& frames);
  void hold(const SharedFrames& frames, const Envelope& envelope);
  RelayContext& shared_;
  net::Socket& client_;
  net::Socket& engines_;
  const std::size_t most_bytes_;
  std::deque<SharedFrames> held_;
  std::size_t held_bytes_ = 0;
  Instant next_try_{};
};

/// The broadcast channel: receives and sends, while BroadcastRelay makes the copies and gathers the
/// replies. To the records and the journal each engine's copy is a call of that engine, as if it
/// had been sent directly.
///
/// Where a broadcast lies: its copies in `requests_` until the journal is durable (only with
/// --journal=power), then in the EngineLink until each engine's connection takes its copy; replies
/// in `replies_`, again for the journal, then, if they are gathered, in the BroadcastRelay until
/// all have come or one engine has left; the gathered answer of a call that ends so in `ends_` for
/// the journal. The CallKeeper's journal has each copy until its reply has come.
class BroadcastDesk {
 public:
  /// All four outlive it.
  BroadcastDesk(RelayContext& shared, ClientLink& clients, EngineLink& engines, CallKeeper& calls);
  /// The clients' socket, or the engines', is readable: takes up to messages_per_turn.
  void receive_requests();
  void receive_replies();
  /// The gathered calls that wait for the engine end with an EngineError, which says `end`; copies
  /// that still wait for its connection are answered by an error as well.
  void engine_left(const EngineUuid& engine, const EngineEnd& end);
  /// Goes on with what an earlier controller left, before anything is received.
  /// left  what CallKeeper::restore() has returned.
  void restore(const std::vector<LeftCall>& left);
  /// As DirectRelay::ask_again().
  void ask_again(const EngineUuid& engine);
  /// More of the journal may be on the disk, or the disk may be in trouble: passes on what is due.
  void on_journal();

 private:
  struct Request {
    MessageToEngine copy;
    SharedFrames call;  // the same
    friend const SharedFrames& call_of(const Request& request) { return request.call; }
  };
  std::vector<Request> copies_of(const SharedFrames& frames);
  std::vector<Request> without_refused(std::vector<Request> copies);
  void answer_in_place(const SharedFrames& call, const Problem& problem);
  void refuse(const SharedFrames& frames, const Envelope& envelope, const std::string& why);
  void tell_of(const std::vector<Request>& copies);
  void ask(const MessageToEngine& copy);
  void pass_reply(const SharedFrames& frames, bool ends_call = false);
  void send(const BroadcastToClient& message);
  RelayContext& shared_;
  BroadcastRelay relay_;
  ClientLink& clients_;
  EngineLink& engines_;
  CallKeeper& calls_;
  HeldRequests<Request> requests_;
  HeldMessages<SharedFrames> replies_;
  HeldMessages<BroadcastToClient> ends_;  // of gathered calls, as an engine has left
};

}  // namespace px::controller
