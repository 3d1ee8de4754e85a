#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/recent_map.hpp"

namespace px::controller {

/// Names one stay of an engine in the task queue, from when it joins until it leaves: never used
/// twice, unlike uuids, which may come back. 0 is none.
using WorkerKey = std::uint32_t;

/// 128 bits that stand for a msg_id, which is longer: by them queue, journal and backlog remember
/// many tasks in little memory. Not cryptographic: a client could make
/// two ids that have one digest.
struct TaskDigest {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const TaskDigest&) const = default;
};
TaskDigest digest_of(std::string_view msg_id);
struct TaskDigestHash {
  std::size_t operator()(const TaskDigest& digest) const {
    return static_cast<std::size_t>(digest.low);
  }
};

/// How a task ended, as far as its dependents care.
struct FinishedTask {
  bool is_ok = false;
  WorkerKey worker = 0;  ///< Where; 0 = nowhere.
};

/// Remembers the last `capacity` finished tasks, so that later ones may depend on them. What is
/// older is forgotten, and is then an id that was never seen, so that a dependency on it is
/// invalid: memory stays bounded.
class FinishedTasks {
 public:
  explicit FinishedTasks(std::size_t capacity = 65536) : tasks_(capacity) {}
  /// A msg_id that finishes again (a client may use it twice) replaces its first end.
  void add(const TaskDigest& digest, FinishedTask task) { tasks_.add(digest, task); }
  /// Null where it never finished, or long ago. Valid until the next add().
  const FinishedTask* find(const TaskDigest& digest) const { return tasks_.find(digest); }
  std::size_t size() const { return tasks_.size(); }

 private:
  RecentMap<TaskDigest, FinishedTask, TaskDigestHash> tasks_;
};

}  // namespace px::controller
