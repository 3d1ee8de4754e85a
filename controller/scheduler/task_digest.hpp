#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace px::controller
