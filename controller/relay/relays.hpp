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

/// Brings what engines publish to all clients.
class OutputRelay {
 public:
  /// on_shutdown  an engine said that it shuts down.
  /// calls        hears of what is to be kept.
  OutputRelay(RelayContext& shared, net::Socket& engines, OutputPublisher& clients,
              std::function<void(const EngineUuid&)> on_shutdown, CallKeeper& calls);
  void receive();

 private:
  void record(const SharedFrames& frames, const Envelope& envelope, std::string_view type);
  RelayContext& shared_;
  net::Socket& engines_;
  OutputPublisher& clients_;
  std::function<void(const EngineUuid&)> on_shutdown_;
  CallKeeper& calls_;
};

/// The task channel with the scheme `pure`: the engines' socket deals the tasks out by itself.
class PureTaskRelay {
 public:
  /// most_bytes  of what waits for the first engine; more is refused.
  PureTaskRelay(RelayContext& shared, net::Socket& client, net::Socket& engines,
                std::size_t most_bytes);
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

/// The broadcast channel. To the records and the journal each engine's copy is a call of that
/// engine.
class BroadcastDesk {
 public:
  BroadcastDesk(RelayContext& shared, ClientLink& clients, EngineLink& engines, CallKeeper& calls);
  void receive_requests();
  void receive_replies();
  void engine_left(const EngineUuid& engine, const EngineEnd& end);
  /// Goes on with what an earlier controller left.
  void restore(const std::vector<LeftCall>& left);
  /// As DirectRelay.
  void ask_again(const EngineUuid& engine);
  /// More of the journal may be on the disk.
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
