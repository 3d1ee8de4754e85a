#pragma once

#include <memory>
#include <optional>
#include <string>

#include "controller/ledger/call_ledger.hpp"
#include "controller/relay/client_link.hpp"
#include "controller/relay/engine_link.hpp"
#include "controller/relay/relay_context.hpp"

namespace px::controller {

/// The channels of direct calls (mux) and of broadcasts: receives requests and replies for its
/// CallLedger, and performs its decisions: sends, answers, reports to the hub. It keeps nothing
/// itself; CallLedger documents the places of a call and what is promised. For a direct call the
/// two routing frames are swapped and the others forwarded unchanged (protocol 4.2), unverified;
/// broadcasts are verified here. A request that cannot be delivered is answered with an error.
///
/// The I/O thread owns it, and calls it when its sockets are readable.
class CallRelay final : private CallTransport {
 public:
  /// The two ends of one channel.
  struct Channel {
    ClientLink& clients;
    EngineLink& engines;
  };
  /// The objects to which `shared` and the channels refer outlive it.
  /// journal, patience  as in CallLedger.
  CallRelay(RelayContext& shared, Channel mux, Channel broadcast,
            std::unique_ptr<CallJournal> journal, Duration patience);

  /// The clients' socket, or the engines', is readable: receives up to messages_per_turn.
  void receive_requests();
  void receive_replies();
  void receive_broadcasts();
  void receive_broadcast_replies();
  /// See CallLedger::published().
  void published(const SharedFrames& output, const Envelope& envelope) {
    ledger_.published(output, envelope);
  }

  // See CallLedger.
  void restore() { ledger_.restore(Clock::now()); }
  void engine_joined(const EngineUuid& engine) { ledger_.engine_joined(engine); }
  void engine_reconnected(const EngineUuid& engine, CallChannel channel) {
    ledger_.engine_reconnected(engine, channel);
  }
  /// Calls that still wait for the engine's connection are also answered with an EngineError.
  void engine_left(const EngineUuid& engine, const EngineEnd& end);
  void on_time(Instant now);
  void on_journal() { ledger_.on_journal(); }
  std::optional<Instant> next_deadline() const { return ledger_.next_deadline(); }
  std::optional<std::string> trouble() const { return ledger_.trouble(); }

 private:
  const Channel& of(CallChannel channel) const {
    return channel == CallChannel::mux ? mux_ : broadcast_;
  }
  void refuse(const SharedFrames& request, const Envelope& envelope, const std::string& why);
  // CallTransport
  bool is_member(const EngineUuid& engine) const override;
  std::optional<Problem> overload(CallChannel channel, const EngineUuid& engine) const override;
  SharedFrames whole(const SharedFrames& frames) const override;
  WallTime wall() const override { return wall_now(); }
  void ask(CallChannel channel, const SharedFrames& call) override;
  void answer(const SharedFrames& reply) override;
  void answer(const BroadcastToClient& message) override;
  void record(HubEvent event) override { shared_.hub.post(std::move(event)); }

  RelayContext& shared_;
  const Channel mux_, broadcast_;
  CallLedger ledger_;
};

}  // namespace px::controller
