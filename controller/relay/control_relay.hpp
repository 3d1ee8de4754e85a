#pragma once

#include <functional>
#include <string_view>

#include "controller/relay/client_link.hpp"
#include "controller/relay/engine_link.hpp"
#include "controller/relay/relay_context.hpp"

namespace px::controller {

/// The channel of control messages to named engines (interrupts, aborts, questions): swaps the two
/// routing frames, which name the client and the engine, and forwards the other frames unchanged
/// (protocol 4.2). Control messages are neither in the journal nor in the records, and are not
/// kept: a request is in the EngineLink until the engine's connection takes it. One that cannot be
/// delivered is answered with an error.
///
/// The I/O thread owns it, and calls it when its sockets are readable.
class ControlRelay {
 public:
  /// All three outlive it.
  ControlRelay(RelayContext& shared, ClientLink& clients, EngineLink& engines);
  /// The clients' socket, or the engines', is readable: receives up to messages_per_turn.
  void receive_requests();
  void receive_replies();
  /// Sends a control message of the controller. Returns its msg_id.
  /// engine  the uuid of a registered engine.
  MessageId order(std::string_view engine, std::string_view msg_type, Json content);
  /// Called with each correctly signed reply to one of these, also with an error sent instead.
  /// content  packed.
  using OwnReply = std::function<void(const MessageId& order, std::string_view content)>;
  void on_own_reply(OwnReply listener) { own_reply_ = std::move(listener); }

 private:
  void answer(const SharedFrames& reply);
  void answer_in_place(const SharedFrames& request, const Problem& problem);
  void tell_own(const Frames& reply) const;

  RelayContext& shared_;
  ClientLink& clients_;
  EngineLink& engines_;
  OwnReply own_reply_;
};

}  // namespace px::controller
