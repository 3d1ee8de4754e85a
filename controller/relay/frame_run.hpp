#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "net/socket.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// Frames `from` .. `to`-1 of a message, held.
struct FrameRun {
  SharedFrames frames;
  std::size_t from, to;
};

/// As Socket::forward() takes them; they hold nothing themselves.
std::vector<net::Socket::Run> runs_to_send(std::span<const FrameRun> runs);

/// The bytes of their frames.
std::size_t total_bytes(std::span<const FrameRun> runs);

/// The head and the frames of the runs behind it, as one message. Frames of runs are shared.
SharedFrames spliced(std::vector<std::string> head, std::vector<FrameRun> runs);

/// [engine, head..., the runs' frames...] on the engines' side; the first of head is the client.
struct MessageToEngine {
  EngineUuid engine;
  std::vector<std::string> head;
  std::vector<FrameRun> runs;
};
/// The same as a request for one engine: [client, engine, delimiter, ...]. Frames of runs are
/// shared.
SharedFrames as_call(const MessageToEngine& message);

}  // namespace px::controller
