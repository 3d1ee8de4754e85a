#pragma once

#include <optional>
#include <string_view>

#include "controller/relay/call_keeper.hpp"
#include "controller/relay/client_link.hpp"
#include "controller/relay/engine_link.hpp"
#include "controller/relay/relay_context.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// A channel of messages to named engines, mux or control: swaps the two routing frames, which name
/// the client and the engine, and forwards the other frames as they are (protocol 4.2). On the mux
/// channel, the one with a CallKeeper, the journal and the hub hear of what passes; the control
/// channel (interrupts, aborts, questions) is neither written down nor recorded.
///
/// It keeps nothing for itself. A request that came lies in `requests_` until the journal is
/// durable (only with --journal=power), then in the EngineLink until the engine's connection takes
/// it; the CallKeeper's journal has a copy until its reply comes. A reply lies in `replies_` for
/// the same reason, then in the ClientLink. A request that cannot be delivered is answered by an
/// error.
///
/// The I/O thread owns it, and calls it when its sockets are readable.
class DirectRelay {
 public:
  /// shared, client, engines  outlive it.
  /// name   of the channel, for the log; must live as long as the relay.
  /// calls  keeps the calls, and the hub hears of what passes; null: neither. Outlives it.
  DirectRelay(RelayContext& shared, ClientLink& client, EngineLink& engines, std::string_view name,
              CallKeeper* calls = nullptr);
  /// The clients' socket, or the engines', is readable: takes up to messages_per_turn.
  void receive_requests();
  void receive_replies();

  /// Sends an engine that is there again all requests that it owes, as they or their replies may
  /// have been lost on their way. It knows again what it has got, and runs nothing twice. Without a
  /// journal nothing is known of what it owes, and nothing is sent.
  void ask_again(const EngineUuid& engine);
  /// What still waits for the engine's connection is answered by an EngineError. Of requests
  /// that the engine had received its client learns by the notification that the engine has left.
  void engine_left(const EngineUuid& engine);
  /// More of the journal may be on the disk, or the disk may be in trouble: passes on what is due.
  void on_journal();

 private:
  SharedFrames receive(net::Socket& socket);
  bool is_well_formed(const Frames& frames);
  void tell_of(const SharedFrames& request);
  void pass_reply(const SharedFrames& frames);
  void ask(const SharedFrames& request);
  bool refuse(const SharedFrames& request, const Problem& problem);
  void answer_in_place(const SharedFrames& request, const Problem& problem);

  RelayContext& shared_;
  ClientLink& client_;
  EngineLink& engines_;
  std::string_view name_;
  CallKeeper* const calls_;
  // Where there is a journal:
  std::optional<HeldRequests<SharedFrames>> requests_;
  std::optional<HeldMessages<SharedFrames>> replies_;
};

}  // namespace px::controller
