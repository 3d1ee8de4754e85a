#pragma once

#include <string>
#include <vector>

#include "net/loop.hpp"
#include "net/socket.hpp"

namespace px::net {

using Texts = std::vector<std::string>;

inline Texts texts(const SharedFrames& frames) {
  Texts all;
  for (std::size_t i = 0; frames && i < frames->size(); ++i) all.emplace_back(frames->at(i));
  return all;
}

/// The next message; null after a minute.
inline SharedFrames await(Socket& socket) {
  using namespace std::chrono_literals;
  Loop loop;
  SharedFrames frames;
  const Instant deadline = Clock::now() + 60s;
  loop.watch(socket, [&] { frames = socket.receive(); });
  while (!frames && Clock::now() < deadline) loop.wait_until(deadline);
  return frames;
}

}  // namespace px::net
