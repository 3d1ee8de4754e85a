#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/events/event_ring.hpp"
#include "controller/hub/hub.hpp"
#include "controller/hub/hub_errors.hpp"
#include "controller/hub/passage_log.hpp"
#include "controller/hub/task_index.hpp"

namespace px::controller {

/// The question for the state of the cluster: docs/protocol.md.
inline constexpr std::string_view measures_request = "measures_request";

/// Answers the questions of clients about tasks (protocol 7): queue_request, load_request,
/// result_request, history_request, db_request, purge_request, resubmit_request, events_request,
/// measures_request, trace_request.
/// Counts and pending tasks come from the TaskIndex, contents from the TaskStore. Each question
/// gets one answer, which may be an error with the name of a Python exception; an unknown type gets
/// hub_error.
///
/// The Hub owns it and the objects to which it refers, which outlive it; all of them belong to the
/// hub's thread. The buffers of an answer are shared with the records, never copied.
class HubQueries {
 public:
  HubQueries(Session& session, TaskStore& store, TaskIndex& index, const EventRing& events,
             PassageLog& passages, const HubOptions& options)
      : session_(session),
        store_(store),
        index_(index),
        events_(events),
        passages_(passages),
        options_(options) {}

  /// Returns one SendAnswer, after the ResubmitTasks of a resubmission.
  /// when      the date of the answer, and of requests that are sent again.
  /// snapshot  the latest one, required for a measures_request; otherwise it may be null.
  std::vector<HubEffect> answer(const HubQuery& query, Moment when,
                                const Snapshot* snapshot = nullptr);

 private:
  /// A buffer that stays in the memory of its message: the message, and the index of the buffer.
  using Buffer = std::pair<TaskMessage, std::size_t>;
  struct Answer {
    std::string msg_type;
    Json content;
    std::vector<Buffer> buffers = {};
    std::vector<HubEffect> effects = {};
  };

  Answer dispatch(const HubQuery& query, Moment when, const Snapshot* snapshot);
  Answer queue_status(const Json& content);
  Answer load(const Json& content);
  Answer results(const Json& content);
  Answer history();
  Answer events(const Json& content) const;
  Answer trace(const Json& content, Instant now);
  Answer records(const Json& content);
  Answer purge(const Json& content);
  Answer resubmit(const Json& content, WallTime wall);

  QueryResult<std::vector<EngineId>> targets(const Json& content) const;
  std::optional<EngineId> engine_id(const Json& target) const;
  Json queue_entry(TaskIndex::Slot slot, bool is_verbose) const;
  std::optional<QueryError> drop_named(const Json& msg_ids);
  std::optional<QueryError> drop_engines(const Json& engine_ids);
  /// The new msg_id of a task that is sent again.
  MessageId resubmit_one(const MessageId& msg_id, const TaskMessage& request, Answer& answer,
                         WallTime wall);
  SharedFrames compose(const HubQuery& query, Answer& answer, WallTime wall);

  static Answer measures(const Snapshot& snapshot);
  static Answer failure(std::string msg_type, const QueryError& error);

  Session& session_;
  TaskStore& store_;
  TaskIndex& index_;
  const EventRing& events_;
  PassageLog& passages_;
  const HubOptions& options_;
};

}  // namespace px::controller
