#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/call_journal.hpp"
#include "controller/relay/frame_run.hpp"
#include "controller/relay/stand_in_reply.hpp"
#include "wire/engine_end.hpp"
#include "wire/envelope.hpp"
#include "wire/error.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/session.hpp"

namespace px::controller {

/// [head..., the runs' frames...] on the clients' side; the first of head is the client.
struct BroadcastToClient {
  std::vector<std::string> head;
  std::vector<FrameRun> runs;
};

/// Copies a request to many engines and brings their replies back, each by itself or gathered into
/// one (protocol 9). A flat tree: one port for all engines. Sees no socket and no clock.
class BroadcastRelay {
 public:
  explicit BroadcastRelay(Session session) : session_(std::move(session)) {}

  /// A verified request, [client, delimiter, ...].
  /// errors  bad_input: its metadata lacks what protocol 9.2 asks for.
  Result<std::vector<MessageToEngine>> request(const SharedFrames& frames,
                                               const Envelope& envelope);
  /// A verified reply, [engine, client, delimiter, ...].
  /// ends_call  it stands in an engine's place: a gathered call ends with it, whatever the others
  /// do.
  std::vector<BroadcastToClient> reply(const SharedFrames& frames, const Envelope& envelope,
                                       bool ends_call = false);
  /// The gathered calls that wait for it end with an EngineError.
  std::vector<BroadcastToClient> engine_left(const EngineUuid& engine, WallTime now,
                                             const EngineEnd& end = {});

  /// Goes on with the gathered calls that an earlier controller left unanswered.
  /// left  the copies that it left, in the order of the requests.
  void restore(const std::vector<LeftCall>& left, WallTime now);

  std::size_t open_calls() const { return calls_.size(); }

 private:
  struct Answer {
    SharedFrames frames;
    Envelope parts;
  };
  struct Target {
    std::string uuid;
    Json pair = {};  // [uuid, id] as the client wrote it; null: of a reply that was forgotten
    std::optional<Answer> answer = {};
  };
  /// A request whose replies are gathered.
  struct Call {
    std::string client = {};
    std::string msg_type = {};
    std::vector<Target> targets = {};  // in the order of the request
    std::size_t unanswered = 0;
    bool is_over = false;  // an engine had left
  };
  using Calls = std::map<std::string, Call, std::less<>>;

  MessageToEngine copy_for(const Target& target, const SharedFrames& frames,
                           const Envelope& envelope, Json& header, Json& metadata,
                           const std::string& original_id) const;
  bool is_ok(const Answer& answer) const;
  BroadcastToClient gather(const Call& call) const;
  void restore(const LeftCall& left, std::map<std::string, std::size_t>& sizes, WallTime now);
  Answer error_answer(const Call& call, const std::string& original_id, const Target& target,
                      const Problem& problem, WallTime now);
  Answer death_notice(const Call& call, const std::string& original_id, const Target& target,
                      const EngineEnd& end, WallTime now);
  Session session_;
  Calls calls_;  // by the msg_id of the client's request
};

}  // namespace px::controller
