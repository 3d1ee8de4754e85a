#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/scheduler/gang_run.hpp"
#include "controller/scheduler/task_queue.hpp"

namespace px::controller {

// The parts of TaskQueue; for its own sources only: task_queue.cpp, task_groups.cpp,
// task_dependencies.cpp, task_gangs.cpp, task_recalls.cpp.

inline void insert_sorted(std::vector<WorkerKey>& keys, WorkerKey key) {
  const auto position = std::lower_bound(keys.begin(), keys.end(), key);
  if (position == keys.end() || *position != key) keys.insert(position, key);
}

inline bool contains(const std::vector<WorkerKey>& sorted, WorkerKey key) {
  return std::binary_search(sorted.begin(), sorted.end(), key);
}

/// An engine that has joined, until the grace time after its departure is over.
struct TaskQueue::Worker {
  EngineUuid uuid;
  std::set<Group*> groups;  // those that list it as one of their engines
  EngineEnd end;            // once it has left
};

/// The members that only a task of several ranks needs.
struct TaskQueue::Gang {
  RankCount ranks;
  Restriction restriction = {};  // while it waits for engines: where it is in waiting_gangs_
  // While it runs:
  std::optional<GangRun> run = {};
  std::vector<WorkerKey> members = {};  // by rank, as in seats
  std::shared_ptr<const GangSeats> seats = {};
  EngineUuid lost = {};   // an engine that has left
  std::string loss = {};  // the sentence about that
};

/// The members that only a task has that uses targets, dependencies, a timeout or retries, or that
/// is given to a second engine. Nearly all tasks have none: they would be most of a task's memory.
struct TaskQueue::Rules {
  std::vector<WorkerKey> targets;  // sorted; those that were live when the task came
  bool has_targets = false;
  Dependency after, follow;
  std::vector<TaskDigest> after_ids, follow_ids;  // tasks that have not ended
  std::vector<std::string> unknown;               // those that had not arrived when this one did
  Duration timeout{0};
  int retries = 0;
  std::vector<WorkerKey> failed_on, unmet_on, seen_by;  // sorted
  int repetitions = 0;
  int failures = 0;            // attempts that ended without a result
  bool goes_first = false;     // a lost engine may have begun it
  std::unique_ptr<Gang> gang;  // of several ranks; null: of one
  // In timers_: the task's timeout, the end of its pause, the end of the wait for unknown tasks.
  std::optional<Instant> timer, pause_end, unknown_until;

  /// The engines that do not get the task again for now. Sorted.
  std::vector<WorkerKey> tried_on() const {
    std::vector<WorkerKey> tried = failed_on;
    for (const WorkerKey key : unmet_on) insert_sorted(tried, key);
    return tried;
  }
};

/// An unfinished task. The queue owns it by its msg_id, to which other containers refer: it stays
/// at its address until end().
struct TaskQueue::Task {
  std::uint64_t order = 0;
  Instant since{};  // when it came
  MessageId msg_id;
  SharedFrames frames, kept;  // see TaskRequest
  std::size_t delimiter_index = 0;
  std::size_t bytes = 0;
  bool is_compact = false;
  bool is_cell = false;
  Place place = Place::nowhere;  // parked: waits for dependencies; ready: waits for an engine
  WorkerKey worker = 0;          // while it runs; of several ranks: the first one
  Group* group = nullptr;        // while it is ready, unless it has several ranks
  std::unique_ptr<Rules> rules;

  /// Null: of one rank.
  Gang* gang() const { return rules ? rules->gang.get() : nullptr; }

  /// Not a cell, because engines abort cells behind one that fails; nor a task with a timeout,
  /// because the time that it waits in an engine would not count.
  bool may_go_ahead() const { return !is_cell && (!rules || rules->timeout == Duration{0}); }
};

/// The ready tasks that may run on the same engines: an engine that has room examines the oldest
/// task of each group that allows it, instead of all tasks.
struct TaskQueue::Group {
  Restriction restriction;
  Ready ready;
};

}  // namespace px::controller
