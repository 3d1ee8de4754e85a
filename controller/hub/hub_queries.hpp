#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/hub/hub.hpp"
#include "controller/hub/hub_errors.hpp"
#include "controller/hub/task_index.hpp"

namespace px::controller {

/// Answers the questions of clients (protocol 7). The hub owns the things that it refers to.
class HubQueries {
 public:
  HubQueries(Session& session, TaskStore& store, TaskIndex& index, const HubOptions& options)
      : session_(session), store_(store), index_(index), options_(options) {}

  /// One SendAnswer; before it the ResubmitTasks of a resubmission.
  std::vector<HubEffect> answer(const HubQuery& query, WallTime wall);

 private:
  /// Buffers that stay in the memory of the message that they are of.
  using Buffer = std::pair<TaskMessage, std::size_t>;
  struct Answer {
    std::string msg_type;
    Json content;
    std::vector<Buffer> buffers = {};
    std::vector<HubEffect> effects = {};
  };

  Answer dispatch(const HubQuery& query, WallTime wall);
  Answer queue_status(const Json& content);
  Answer load(const Json& content);
  Answer results(const Json& content);
  Answer history();
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

  static Answer failure(std::string msg_type, const QueryError& error);

  Session& session_;
  TaskStore& store_;
  TaskIndex& index_;
  const HubOptions& options_;
};

}  // namespace px::controller
