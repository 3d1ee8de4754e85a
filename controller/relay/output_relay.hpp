#pragma once

#include <functional>
#include <string_view>

#include "controller/relay/call_relay.hpp"
#include "controller/relay/output_publisher.hpp"
#include "controller/relay/relay_context.hpp"
#include "net/socket.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// Brings what engines publish (output, results, busy and idle) to all clients, as it came and
/// without a check of its signature: clients verify it themselves. The hub and the journal of calls
/// hear of output. Nothing waits here: what a client does not read waits or is dropped in the
/// OutputPublisher. The I/O thread owns it.
class OutputRelay {
 public:
  /// on_shutdown  is called when an engine said, in a signed message, that it shuts down.
  /// calls        hears of what is to be kept with the calls.
  OutputRelay(RelayContext& shared, net::Socket& engines, OutputPublisher& clients,
              std::function<void(const EngineUuid&)> on_shutdown, CallRelay& calls);
  /// The engines' socket is readable: takes up to messages_per_turn.
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
