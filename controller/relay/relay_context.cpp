#include "controller/relay/relay_context.hpp"

#include <string>

namespace px::controller {

std::optional<Envelope> RelayContext::open(const Frames& frames, std::size_t ident_count,
                                           std::string_view channel) const {
  const Result<Envelope> envelope = Envelope::locate(frames, ident_count);
  if (!envelope) {
    bad_messages.add(std::string(channel) + ": not a message", envelope.error().what);
    return std::nullopt;
  }
  if (envelope->ident_count != ident_count) {
    bad_messages.add(std::string(channel) + ": a message with too few routing frames");
    return std::nullopt;
  }
  if (!signer().verify(*envelope)) {
    bad_messages.add(std::string(channel) + ": a message with a bad signature",
                     "its sender probably uses the connection file of another cluster");
    return std::nullopt;
  }
  return *envelope;
}

SharedFrames RelayContext::receive_routed(net::Socket& socket, std::string_view channel) const {
  constexpr std::size_t fewest_frames = 8;  // two routing frames, delimiter, signature, four parts
  while (SharedFrames frames = socket.receive()) {
    if (frames->size() >= fewest_frames && frames->at(2) == delimiter) return frames;
    bad_messages.add(std::string(channel) + ": not a message for or from an engine");
  }
  return nullptr;
}

}  // namespace px::controller
