#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "controller/relay/engine_link.hpp"
#include "wire/engine_end.hpp"
#include "wire/envelope.hpp"
#include "wire/error.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/session.hpp"

namespace px::controller {

/// [engine, head..., the runs' frames...] on the engines' side.
struct BroadcastToEngine {
  EngineUuid engine;
  std::vector<std::string> head;
  std::vector<FrameRun> runs;
};
/// [head..., the runs' frames...] on the clients' side; the first of head is the client.
struct BroadcastToClient {
  std::vector<std::string> head;
  std::vector<FrameRun> runs;
};
using BroadcastEffect = std::variant<BroadcastToEngine, BroadcastToClient>;
using BroadcastEffects = std::vector<BroadcastEffect>;

/// Copies a request to many engines and brings their replies back, each by itself or gathered into
/// one (protocol 9). A flat tree: one port for all engines. Sees no socket and no clock.
class BroadcastRelay {
 public:
  explicit BroadcastRelay(Session session) : session_(std::move(session)) {}

  /// A verified request, [client, delimiter, ...].
  /// errors  bad_input: its metadata lacks what protocol 9.2 asks for.
  Result<BroadcastEffects> request(const SharedFrames& frames, const Envelope& envelope);
  /// A verified reply, [engine, client, delimiter, ...].
  BroadcastEffects reply(const SharedFrames& frames, const Envelope& envelope);
  /// The gathered calls that wait for it end with an EngineError.
  BroadcastEffects engine_left(const EngineUuid& engine, WallTime now, const EngineEnd& end = {});

  std::size_t open_calls() const { return calls_.size(); }

 private:
  struct Answer {
    SharedFrames frames;
    Envelope parts;
  };
  struct Target {
    std::string uuid;
    Json pair;  // [uuid, id] as the client wrote it
    std::optional<Answer> answer;
  };
  /// A request whose replies are gathered.
  struct Call {
    std::string client;
    std::string msg_type;
    std::vector<Target> targets;  // in the order of the request
    std::size_t unanswered = 0;
  };
  using Calls = std::map<std::string, Call, std::less<>>;

  BroadcastEffect copy_for(const Target& target, const SharedFrames& frames,
                           const Envelope& envelope, Json& header, Json& metadata,
                           const std::string& original_id) const;
  bool is_ok(const Answer& answer) const;
  BroadcastEffect gather(const Call& call) const;
  Answer death_notice(const Call& call, const std::string& original_id, const Target& target,
                      const EngineEnd& end, WallTime now);
  Session session_;
  Calls calls_;  // by the msg_id of the client's request
};

}  // namespace px::controller
