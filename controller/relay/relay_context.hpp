#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "controller/events/event_maker.hpp"
#include "controller/hub/hub_thread.hpp"
#include "controller/relay/bad_message_counter.hpp"
#include "controller/relay/shared_memory.hpp"
#include "net/socket.hpp"
#include "wire/envelope.hpp"
#include "wire/frames.hpp"
#include "wire/session.hpp"

namespace px::controller {

/// The most messages of one socket that are handled before the others, and timers, have their turn.
inline constexpr int messages_per_turn = 128;

/// The objects that all relays and registration share: the session that signs and verifies, the
/// hub, the counter of dropped messages, the shared memory, the maker of events. The Server makes
/// it, and it outlives all of them. The I/O thread owns it.
struct RelayContext {
  Session session;  ///< Of the controller: signs its own messages.
  HubThread& hub;
  BadMessageCounter& bad_messages;
  SharedMemory& memory;
  EventMaker& events;

  Packer packer() const { return session.packer(); }
  const Signer& signer() const { return session.signer(); }
  /// For an event that happens now.
  static EventTime event_time() { return {Clock::now(), wall_now()}; }
  /// Reports to the event log if a request is answered with this error for lack of room.
  void note_refusal(std::string_view error, std::string_view sentence) const {
    if (error == "Overloaded") events.refused(sentence, event_time());
  }

  /// The parts of a message with exactly `ident_count` routing frames and a right signature;
  /// otherwise nothing, and it is counted as bad. No part is parsed. `channel` names the socket in
  /// the log.
  std::optional<Envelope> open(const Frames& frames, std::size_t ident_count,
                               std::string_view channel) const;
  /// The next message of a socket with two routing frames, which are the client and the engine in
  /// either order: [.., .., delimiter, ...]; null: there is none. Other messages are counted as
  /// bad. `channel` as above.
  SharedFrames receive_routed(net::Socket& socket, std::string_view channel) const;
};

}  // namespace px::controller
