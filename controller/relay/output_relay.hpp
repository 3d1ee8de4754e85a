#pragma once

#include <functional>
#include <string_view>

#include "controller/relay/call_relay.hpp"
#include "controller/relay/output_publisher.hpp"
#include "controller/relay/relay_context.hpp"
#include "net/socket.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// Passes the publications of engines (output, results, busy and idle) to all clients, unchanged
/// and without a check of the signature: clients verify it themselves. The hub and the journal of
/// calls also get output. Nothing waits here: publications that a client does not read wait or are
/// dropped in the OutputPublisher. The I/O thread owns it.
class OutputRelay {
 public:
  /// on_shutdown  called when an engine said, in a signed message, that it shuts down.
  /// calls        gets the output that is kept with the calls.
  OutputRelay(RelayContext& shared, net::Socket& engines, OutputPublisher& clients,
              std::function<void(const EngineUuid&)> on_shutdown, CallRelay& calls);
  /// The engines' socket is readable: receives up to messages_per_turn.
  void receive();

 private:
  void record(const SharedFrames& frames, const Envelope& envelope, std::string_view type);
  RelayContext& shared_;
  net::Socket& engines_;
  OutputPublisher& clients_;
  std::function<void(const EngineUuid&)> on_shutdown_;
  CallRelay& calls_;
};

}  // namespace px::controller
