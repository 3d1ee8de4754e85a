#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/scheduler/task_queue.hpp"

namespace px::controller {

// What TaskQueue is made of; for its own sources alone (task_queue.cpp, task_recalls.cpp).

inline void insert_sorted(std::vector<WorkerKey>& keys, WorkerKey key) {
  const auto position = std::lower_bound(keys.begin(), keys.end(), key);
  if (position == keys.end() || *position != key) keys.insert(position, key);
}

inline bool contains(const std::vector<WorkerKey>& sorted, WorkerKey key) {
  return std::binary_search(sorted.begin(), sorted.end(), key);
}

/// An engine that has joined, and after it has left until its grace is over.
struct TaskQueue::Worker {
  WorkerKey key;
  EngineUuid uuid;
  std::set<Group*> groups;  // those that name it as one of the engines to run on
  EngineEnd end;            // once it has left
};

/// What only a task has that asked for something (targets, dependencies, a timeout, retries), or
/// that is given to a second engine. Nearly all tasks have none: it would be most of their memory.
struct TaskQueue::Rules {
  std::vector<WorkerKey> targets;  // sorted; those that were live when the task came
  bool has_targets = false;
  std::vector<std::string> awaited;  // msg_ids of both dependencies
  Dependency after, follow;
  std::vector<TaskDigest> after_ids, follow_ids;  // that have not ended
  Duration timeout{0};
  int retries = 0;
  std::vector<WorkerKey> failed_on, unmet_on, seen_by;  // sorted
  int repetitions = 0;
  int failures = 0;                  // attempts that ended without a result
  bool goes_first = false;           // an engine that is lost may have begun it
  std::optional<Instant> timer;      // in timers_: the task's timeout
  std::optional<Instant> pause_end;  // in timers_: the end of its pause

  /// The engines that are not to get the task again for now. Sorted.
  std::vector<WorkerKey> tried_on() const {
    std::vector<WorkerKey> tried = failed_on;
    for (const WorkerKey key : unmet_on) insert_sorted(tried, key);
    return tried;
  }
};

/// An unfinished task. The queue owns it by its msg_id, which other containers refer to: it stays
/// where it is until end().
struct TaskQueue::Task {
  std::uint64_t order = 0;
  MessageId msg_id;
  SharedFrames frames, kept;  // see TaskRequest
  std::size_t delimiter_index = 0;
  std::size_t bytes = 0;
  bool is_compact = false;
  bool is_cell = false;
  Place place = Place::nowhere;  // parked: for dependencies; ready: for an engine
  WorkerKey worker = 0;          // while it runs
  Group* group = nullptr;        // while it is ready
  std::unique_ptr<Rules> rules;

  /// Not a cell, as engines abort cells behind one that fails; nor a task with a timeout, as the
  /// time that it waits in an engine would not count.
  bool may_go_ahead() const { return !is_cell && (!rules || rules->timeout == Duration{0}); }
};

/// The ready tasks that may run on the same engines: an engine that has room looks at the oldest
/// task of each group that allows it, and not at all tasks.
struct TaskQueue::Group {
  Restriction restriction;
  Ready ready;
};

}  // namespace px::controller
