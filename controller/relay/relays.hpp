#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string_view>

#include <px/controller/broadcast_relay.hpp>
#include <px/controller/desk.hpp>
#include <px/controller/engine_link.hpp>
#include <px/net/socket.hpp>
#include <px/wire/ids.hpp>

namespace px {

/// A channel of explicitly addressed messages, mux or control: swaps the two routing frames and
/// opens nothing (protocol 4.2).
class DirectRelay {
 public:
  /// `is_recorded`: the hub hears of what passes.
  DirectRelay(Desk& desk, Socket& client, EngineLink& engines, bool is_recorded,
              std::string_view name);
  void receive_requests();
  void receive_replies();

 private:
  bool is_well_formed(const Frames& frames);
  Desk& desk_;
  Socket& client_;
  EngineLink& engines_;
  bool is_recorded_;
  std::string_view name_;
};

/// Brings what engines publish to all clients.
class OutputRelay {
 public:
  /// `on_shutdown`: an engine said that it shuts down.
  OutputRelay(Desk& desk, Socket& engines, Socket& clients,
              std::function<void(const EngineUuid&)> on_shutdown);
  void receive();

 private:
  void record(const SharedFrames& frames);
  Desk& desk_;
  Socket& engines_;
  Socket& clients_;
  std::function<void(const EngineUuid&)> on_shutdown_;
};

/// The task channel with the scheme `pure`: the engines' socket deals the tasks out by itself.
class PureTaskRelay {
 public:
  PureTaskRelay(Desk& desk, Socket& client, Socket& engines);
  void receive_requests();
  void receive_replies();
  /// Tries again to send what came while no engine was there.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  bool try_send(const Frames& frames);
  Desk& desk_;
  Socket& client_;
  Socket& engines_;
  std::deque<SharedFrames> held_;
  Instant next_try_{};
};

/// The broadcast channel.
class BroadcastDesk {
 public:
  BroadcastDesk(Desk& desk, Socket& client, EngineLink& engines);
  void receive_requests();
  void receive_replies();
  void engine_left(const EngineUuid& engine, const EngineEnd& end);

 private:
  void perform(BroadcastEffects effects);
  void operator()(BroadcastToEngine& effect);
  void operator()(BroadcastToClient& effect);
  Desk& desk_;
  BroadcastRelay relay_;
  Socket& client_;
  EngineLink& engines_;
};

}  // namespace px
