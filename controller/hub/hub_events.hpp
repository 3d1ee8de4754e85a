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

// What the I/O thread tells the hub (the thread that remembers), in the order in which it happened.
// Large messages are shared, never copied; the hub verifies signatures of what it opens. What
// the hub makes of an event neither changes nor stops the message that it tells of.

/// An engine finished its registration.
struct EngineJoined {
  EngineId id;
  EngineUuid uuid;
  std::shared_ptr<const EngineFacts> facts = {};  ///< What it said of itself; null: nothing yet.
  std::string language = {};
};
/// A registered engine says this of itself, or more of it.
struct EngineDescribed {
  EngineUuid uuid;
  std::shared_ptr<const EngineFacts> facts;
};
/// An engine has stopped to answer heartbeats, or answers again.
struct EngineHeard {
  EngineUuid uuid;
  bool is_silent = false;
};
/// An engine gets no further balanced tasks, or gets them again, as a user wishes.
struct EngineDrained {
  EngineUuid uuid;
  bool is_drained = true;
};
/// An engine says what it does and uses.
struct EngineMeasured {
  EngineUuid uuid;
  std::shared_ptr<const EngineMeasures> measures;
};
/// What the I/O thread has counted since its start.
struct ControllerCounted {
  std::uint64_t bad_messages = 0;
  std::uint64_t lost_records = 0;
  bool operator==(const ControllerCounted&) const = default;
};
/// An engine left or was declared dead.
struct EngineLeft {
  EngineId id;
  EngineUuid uuid;
  EngineEnd end = {};
};
/// A client's request for one engine passed: [client, engine uuid, delimiter, ...] as it came.
struct DirectSubmitted {
  EngineUuid engine;
  SharedFrames frames;
  /// It counts though its engine is not registered, which may come back: its end is told.
  bool is_awaited = false;
};
/// An engine's reply to it passed: [engine uuid, client, delimiter, ...] as it came.
struct DirectFinished {
  EngineUuid engine;
  SharedFrames frames;
  bool is_own = false;  ///< An error that the I/O thread made, in the place of the engine's reply.
};
/// A direct request of an earlier controller, and its reply; both as above. Without a reply the
/// error ends it; without both it waits.
struct DirectRestored {
  MessageId msg_id;
  EngineUuid engine;
  SharedFrames frames;
  SharedFrames reply;
  std::string error_name, error_value;
};
/// A task arrived: [client, delimiter, ...] as it came, verified by the I/O thread.
struct TaskSubmitted {
  MessageId msg_id;
  SharedFrames frames;
};
/// A task was handed to an engine (again, after a retry).
struct TaskAssigned {
  MessageId msg_id;
  EngineUuid engine;
  bool is_retry = false;  ///< An earlier attempt has failed, or its engine has died.
};
/// A task's final answer: the engine's reply as it came, or the scheduler's own failure message
/// (then `engine` is empty). Not told of attempts that are retried.
struct TaskFinished {
  EngineUuid engine;
  MessageId msg_id;  ///< of the request
  SharedFrames frames;
  bool is_aborted = false;  ///< The engine was asked not to run it.
};
/// Something was published by an engine: [topic, delimiter, ...] as it came.
struct OutputPublished {
  SharedFrames frames;
};
/// An event of the event log: see EventMaker.
struct EventNoted {
  Json event;
};
/// A client asks: queue_request, result_request, db_request and so on, or an unknown type. The I/O
/// thread has verified it and dropped repeats.
struct HubQuery {
  std::string client;  ///< the ident frame to answer to
  std::string msg_type;
  std::string header;  ///< packed: the parent_header of the answer
  Json content;
};

using HubEvent =
    std::variant<EngineJoined, EngineLeft, EngineDescribed, EngineHeard, EngineDrained,
                 EngineMeasured, ControllerCounted, DirectSubmitted, DirectFinished, DirectRestored,
                 TaskSubmitted, TaskAssigned, TaskFinished, OutputPublished, EventNoted, HubQuery>;

// What the hub asks of the I/O thread.

/// Send these frames, client ident first, on the registration socket.
struct SendAnswer {
  SharedFrames frames;
};
/// Put this request into the task queue: [delimiter, ...], signed anew (protocol 7.3). Its answer
/// goes to the hub alone.
struct ResubmitTask {
  SharedFrames frames;
};

using HubEffect = std::variant<SendAnswer, ResubmitTask>;

}  // namespace px::controller
