#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/envelope.hpp"
#include "wire/frames.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The reason why the controller answers instead of an engine: the error that the client's user
/// sees.
struct Problem {
  std::string name;      ///< The name of the error, as in Python.
  std::string sentence;  ///< What has happened, and what to do.
};

/// An error reply made instead of an engine's. The caller adds the routing frames, the msg_type and
/// the parent_header.
/// engine  the uuid of the one that should have answered; nothing: no engine had the request yet.
Draft stand_in_reply(std::optional<std::string_view> engine, const Problem& problem, WallTime now);

/// The whole error reply to a request that no engine gets: [client, delimiter, ...].
/// request   [client, delimiter, ...]
/// envelope  of the request.
std::vector<std::string> refusal(Session& session, const Frames& request, const Envelope& envelope,
                                 std::string_view msg_type, const Problem& problem);

/// The whole reply to one engine's call, or to its copy of a broadcast, made instead of the
/// engine's: [engine, client, delimiter, ...]; null if the call is not a message.
/// call  [client, engine, delimiter, ...]
SharedFrames reply_in_place(Session& session, const Frames& call, const Problem& problem,
                            WallTime now);

}  // namespace px::controller
