#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "wire/engine_end.hpp"
#include "wire/engine_facts.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/measures/engine_measures.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// A time, by both clocks.
struct Moment {
  WallTime wall;
  Instant now;
};

// The reports of the I/O thread to the hub (the recording thread), in the order in which they
// happened. Large messages are shared, never copied; the hub verifies signatures of messages that
// it opens. Whatever the hub does with a report neither changes nor stops the message that it
// describes.

/// An engine finished its registration.
struct EngineJoined {
  EngineId id;
  EngineUuid uuid;
  std::shared_ptr<const EngineFacts> facts = {};  ///< The facts that it sent; null: none yet.
  std::string language = {};
};
/// A registered engine has sent these facts, or further ones.
struct EngineDescribed {
  EngineUuid uuid;
  std::shared_ptr<const EngineFacts> facts;
};
/// An engine no longer answers heartbeats, or answers again.
struct EngineHeard {
  EngineUuid uuid;
  bool is_silent = false;
};
/// An engine gets no further balanced tasks, or gets them again, as a user wants.
struct EngineDrained {
  EngineUuid uuid;
  bool is_drained = true;
};
/// An engine has reported its measures.
struct EngineMeasured {
  EngineUuid uuid;
  std::shared_ptr<const EngineMeasures> measures;
};
/// The counters of the I/O thread since its start.
struct ControllerCounted {
  std::uint64_t bad_messages = 0;
  std::uint64_t lost_records = 0;
  bool operator==(const ControllerCounted&) const = default;
};
/// An engine left or was declared dead.
struct EngineLeft {
  EngineUuid uuid;
  EngineEnd end = {};
};
/// A client's request for one engine passed: [client, engine uuid, delimiter, ...], unchanged.
struct DirectSubmitted {
  EngineUuid engine;
  SharedFrames frames;
  /// It is recorded although its engine is not registered, because that may return: its end will be
  /// reported.
  bool is_awaited = false;
};
/// An engine's reply to it passed: [engine uuid, client, delimiter, ...], unchanged.
struct DirectFinished {
  EngineUuid engine;
  SharedFrames frames;
  bool is_own = false;  ///< It is an error that the I/O thread made instead of the engine's reply.
};
/// A direct request of an earlier controller, and its reply; both in the forms above. Without a
/// reply the error ends it; without both it waits.
struct DirectRestored {
  MessageId msg_id;
  EngineUuid engine;
  SharedFrames frames;
  SharedFrames reply;
  std::string error_name, error_value;
};
/// A task arrived: [client, delimiter, ...], unchanged; the I/O thread has verified it.
struct TaskSubmitted {
  MessageId msg_id;
  SharedFrames frames;
};
/// A task was given to an engine, for the first time or again after a retry.
struct TaskAssigned {
  MessageId msg_id;
  EngineUuid engine;
  bool is_retry = false;  ///< Whether an earlier attempt has failed, or its engine has died.
};
/// A task's final answer: the engine's reply, unchanged, or the scheduler's own failure message
/// (with an empty `engine`). Attempts that are retried are not reported.
struct TaskFinished {
  EngineUuid engine;
  MessageId msg_id;  ///< of the request
  SharedFrames frames;
  bool is_aborted = false;  ///< The engine was requested not to run it.
};
/// An engine published a message: [topic, delimiter, ...], unchanged.
struct OutputPublished {
  SharedFrames frames;
};
/// An event of the event log: see EventMaker.
struct EventNoted {
  Json event;
};
/// A client's question: queue_request, result_request, db_request and so on, or an unknown type.
/// The I/O thread has verified it and dropped repeats.
struct HubQuery {
  std::string client;  ///< the ident frame of the receiver of the answer
  std::string msg_type;
  std::string header;  ///< packed: the parent_header of the answer
  Json content;
};

using HubEvent =
    std::variant<EngineJoined, EngineLeft, EngineDescribed, EngineHeard, EngineDrained,
                 EngineMeasured, ControllerCounted, DirectSubmitted, DirectFinished, DirectRestored,
                 TaskSubmitted, TaskAssigned, TaskFinished, OutputPublished, EventNoted, HubQuery>;

// Requests of the hub to the I/O thread.

/// Send these frames, client ident first, on the registration socket.
struct SendAnswer {
  SharedFrames frames;
};
/// Put this request into the task queue: [delimiter, ...], with a new signature (protocol 7.3).
/// Only the hub gets its answer.
struct ResubmitTask {
  SharedFrames frames;
};

using HubEffect = std::variant<SendAnswer, ResubmitTask>;

}  // namespace px::controller
