#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "net/socket.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// Frames `from` .. `to`-1 of a message, which exists as long as a copy of this. Relays put a new
/// head in front of such runs, so that the bulk of a message is forwarded without a copy.
struct FrameRun {
  SharedFrames frames;
  std::size_t from, to;
};

/// In the form that Socket::forward() takes; valid as long as `runs`, because they keep nothing
/// alive themselves.
std::vector<net::Socket::Run> runs_to_send(std::span<const FrameRun> runs);

/// The bytes of their frames.
std::size_t total_bytes(std::span<const FrameRun> runs);

/// The head followed by the frames of the runs, as one message. Frames of runs are shared, not
/// copied.
SharedFrames spliced(std::vector<std::string> head, std::vector<FrameRun> runs);

/// [engine, head..., the runs' frames...] on the engines' side; the first of head is the client.
struct MessageToEngine {
  EngineUuid engine;
  std::vector<std::string> head;
  std::vector<FrameRun> runs;
};
/// The message as a request for one engine, in the form that journal and records use: [client,
/// engine, delimiter, ...]. Frames of runs are shared.
SharedFrames as_call(const MessageToEngine& message);

}  // namespace px::controller
