#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/journal/call_journal.hpp"
#include "controller/ledger/frame_run.hpp"
#include "controller/ledger/stand_in_reply.hpp"
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

/// Copies a request to many engines and returns their replies, separately or gathered into one
/// (protocol 9, "coalescing"). A flat tree: one port for all engines. CallLedger passes on the
/// messages that this class returns. Uses no socket and no clock.
///
/// For a gathered call it holds the replies that have arrived, but not the request, until the last
/// one arrives, or the first engine of the call leaves or cannot be reached: in this case the call
/// ends with one message to its client. Later replies are dropped. For a broadcast that is not
/// gathered it holds nothing.
class BroadcastCalls {
 public:
  explicit BroadcastCalls(Session session) : session_(std::move(session)) {}

  /// A verified request, [client, delimiter, ...]. Returns a copy for each of its targets, in their
  /// order. A copy has a new signature and the msg_id "<original msg_id>_<engine uuid>", and shares
  /// the content and the buffers of the request.
  /// errors  bad_input: its metadata lacks members that protocol 9.2 requires.
  Result<std::vector<MessageToEngine>> request(const SharedFrames& frames,
                                               const Envelope& envelope);
  /// A verified reply, [engine, client, delimiter, ...]. Returns the messages that its client gets
  /// now: the reply itself, the gathered answer if this was the last one, or nothing. A gathered
  /// answer is the first failure in the order of the targets; if all succeeded, it is the last
  /// target's reply with the buffers of all of them.
  /// ends_call  whether the reply was made here instead of by an engine: a gathered call ends with
  ///            it, whatever the others do.
  std::vector<BroadcastToClient> reply(const SharedFrames& frames, const Envelope& envelope,
                                       bool ends_call = false);
  /// The gathered calls that wait for this engine end with an EngineError; one message for each.
  /// end  why the engine left, for the sentence of the error.
  std::vector<BroadcastToClient> engine_left(const EngineUuid& engine, WallTime now,
                                             const EngineEnd& end = {});

  /// Continues the gathered calls that an earlier controller left unanswered. Call it once, before
  /// the first request().
  /// left  the copies that it left, in the order of the requests. Targets whose replies are not in
  ///       the journal count as failed, with the error ResultLost.
  void restore(const std::vector<LeftCall>& left, WallTime now);

  /// The number of gathered calls that wait for replies.
  std::size_t open_calls() const { return calls_.size(); }

 private:
  struct Answer {
    SharedFrames frames;
    Envelope parts;
  };
  struct Target {
    std::string uuid;
    Json pair = {};  // [uuid, id] in the client's form; null: the reply was forgotten
    std::optional<Answer> answer = {};
  };
  /// A request whose replies are gathered.
  struct GatheredCall {
    std::string client = {};
    std::string msg_type = {};
    std::vector<Target> targets = {};  // in the order of the request
    std::size_t unanswered = 0;
    bool is_over = false;  // an engine has left
  };
  using GatheredCalls = std::map<std::string, GatheredCall, std::less<>>;

  MessageToEngine copy_for(const Target& target, const SharedFrames& frames,
                           const Envelope& envelope, Json& header, Json& metadata,
                           const std::string& original_id) const;
  bool is_ok(const Answer& answer) const;
  BroadcastToClient gather(const GatheredCall& call) const;
  void restore(const LeftCall& left, std::map<std::string, std::size_t>& sizes, WallTime now);
  Answer error_answer(const GatheredCall& call, const std::string& original_id,
                      const Target& target, const Problem& problem, WallTime now);
  Answer death_notice(const GatheredCall& call, const std::string& original_id,
                      const Target& target, const EngineEnd& end, WallTime now);
  Session session_;
  GatheredCalls calls_;  // by the msg_id of the client's request
};

}  // namespace px::controller
