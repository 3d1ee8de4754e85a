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

/// Why the controller answers in the place of an engine: the error that the client's user sees.
struct Problem {
  std::string name;      ///< Of the error, as Python would call it.
  std::string sentence;  ///< What has happened, and what to do.
};

/// An error reply in the place of one that does not come from an engine. The caller adds the
/// routing frames, the msg_type and the parent_header.
/// engine  the uuid of the one that was to answer; nothing: no engine had the request yet.
Draft stand_in_reply(std::optional<std::string_view> engine, const Problem& problem, WallTime now);

/// The whole error reply to a request that no engine gets: [client, delimiter, ...].
/// request   [client, delimiter, ...]
/// envelope  that of the request.
std::vector<std::string> refusal(Session& session, const Frames& request, const Envelope& envelope,
                                 std::string_view msg_type, const Problem& problem);

/// The whole reply to one engine's call, or to its copy of a broadcast, in the place of its own:
/// [engine, client, delimiter, ...]; null where the call is no message.
/// call  [client, engine, delimiter, ...]
SharedFrames reply_in_place(Session& session, const Frames& call, const Problem& problem,
                            WallTime now);

}  // namespace px::controller
