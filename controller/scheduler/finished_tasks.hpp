#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/recent_map.hpp"

namespace px::controller {

/// Identifies one stay of an engine in the task queue, from when it joins until it leaves: never
/// used twice, unlike uuids, which may return. 0: none.
using WorkerKey = std::uint32_t;

/// 128 bits that represent a msg_id, which is longer: with them queue, journal and backlog remember
/// many tasks in little memory. Not cryptographic: a client could make two ids with the same
/// digest.
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

/// The end of a task, as far as its dependents need it.
struct FinishedTask {
  bool is_ok = false;
  WorkerKey worker = 0;  ///< Where it ran; 0: nowhere.
};

/// Remembers the last `capacity` finished tasks, so that later ones may depend on them. Older ones
/// are forgotten and treated like ids that were never seen, so that a dependency on them is
/// invalid: memory stays bounded.
class FinishedTasks {
 public:
  explicit FinishedTasks(std::size_t capacity = 65536) : tasks_(capacity) {}
  /// A msg_id that finishes again (a client may use it twice) replaces its first end.
  void add(const TaskDigest& digest, FinishedTask task) { tasks_.add(digest, task); }
  /// Null if it never finished, or finished long ago. Valid until the next add().
  const FinishedTask* find(const TaskDigest& digest) const { return tasks_.find(digest); }
  std::size_t size() const { return tasks_.size(); }

 private:
  RecentMap<TaskDigest, FinishedTask, TaskDigestHash> tasks_;
};

}  // namespace px::controller
