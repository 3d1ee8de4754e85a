#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "controller/hub/task_record.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// The number of tasks that a TaskIndex tracks.
struct TaskIndexLimits {
  std::size_t pending;    ///< Unfinished tasks that are tracked.
  std::size_t completed;  ///< Finished tasks whose ids are remembered.
};

/// Which engine has which task: the engines that have ever registered, the unfinished and the
/// finished tasks. It contains only ids and counts; the records belong to the store. It answers a
/// queue_request without reading the store, even if that keeps nothing. The counts of finished
/// tasks stay exact when their ids are forgotten. The Hub owns it, on its thread. Uses no clock.
class TaskIndex {
 public:
  /// One registration of one engine, as an index: an id that is granted again gets a new one.
  using Slot = std::size_t;

  struct Counts {
    std::size_t queue = 0;      ///< Unanswered direct requests.
    std::size_t tasks = 0;      ///< Balanced tasks that it has now.
    std::size_t completed = 0;  ///< Finished tasks of both kinds.
  };
  struct Lists {
    std::vector<MessageId> queue, tasks, completed;
  };

  explicit TaskIndex(TaskIndexLimits limits) : limits_(limits) {}

  /// Starts with empty counts, even if the id was granted before; an engine that is already
  /// registered under this id is not changed.
  void join(EngineId id, const EngineUuid& uuid);
  /// Its tasks and counts stay; only is_registered() becomes false.
  void leave(const EngineUuid& uuid);
  /// The latest registration of the engine with this uuid, present or past.
  std::optional<Slot> slot_of(std::string_view uuid) const;
  /// The latest registration under this id, present or past.
  std::optional<Slot> slot_of(EngineId id) const;
  bool is_registered(Slot slot) const { return engines_[slot].is_registered; }
  const EngineUuid& uuid(Slot slot) const { return engines_[slot].uuid; }
  EngineId id(Slot slot) const { return engines_[slot].id; }
  /// All ids that were ever granted, in order.
  std::vector<EngineId> ids() const;

  /// The next three return false for a known task, or if there is no room.
  bool submit_direct(const MessageId& msg_id, Slot slot);
  bool submit_task(const MessageId& msg_id);
  /// A resubmitted task, before it returns through submit_task().
  bool announce(const MessageId& msg_id);
  /// The task is now with this engine and with no other; false for an unknown task.
  bool assign(const MessageId& msg_id, Slot slot);
  /// False for a task that was not pending. `slot`: the engine that answered; `is_counted`: whether
  /// it counts as completed.
  bool finish(const MessageId& msg_id, std::optional<Slot> slot, bool is_counted);

  bool is_pending(const MessageId& msg_id) const { return pending_.contains(msg_id); }
  bool is_completed(const MessageId& msg_id) const { return completed_.contains(msg_id); }

  Counts counts(Slot slot) const { return engines_[slot].counts; }
  /// The msg_ids that belong to the counts, the oldest first; of completed tasks the last `limit`.
  Lists lists(Slot slot, std::size_t limit) const;
  /// Load-balanced tasks that no engine has.
  std::size_t unassigned_count() const { return unassigned_count_; }
  std::vector<MessageId> unassigned() const;
  /// The direct requests that this engine has not answered, the oldest first.
  std::vector<MessageId> unanswered(Slot slot) const;

 private:
  struct Engine {
    EngineId id;
    EngineUuid uuid;
    bool is_registered = true;
    Counts counts;
  };
  struct Pending {
    TaskQueueKind queue = TaskQueueKind::none;
    std::optional<Slot> slot;
    std::uint64_t number = 0;  ///< In the order of submission.
  };
  using PendingTasks = std::unordered_map<MessageId, Pending, StringIdHash, StringIdEqual>;
  /// The engine whose list of completed tasks contains it, if any.
  using CompletedTasks =
      std::unordered_map<MessageId, std::optional<Slot>, StringIdHash, StringIdEqual>;

  Pending* add(const MessageId& msg_id, TaskQueueKind queue);
  void take_from_engine(const Pending& task);
  template <class Condition>
  std::vector<MessageId> pending_where(Condition condition) const;
  void remember_completed(PendingTasks::node_type task, std::optional<Slot> slot);

  TaskIndexLimits limits_;
  std::vector<Engine> engines_;
  std::unordered_map<std::string, Slot, StringIdHash, StringIdEqual> by_uuid_;
  std::unordered_map<EngineId, Slot> by_id_;
  PendingTasks pending_;
  CompletedTasks completed_;
  std::deque<const CompletedTasks::value_type*> completed_order_;
  std::size_t unassigned_count_ = 0;
  std::uint64_t next_number_ = 0;
};

}  // namespace px::controller
