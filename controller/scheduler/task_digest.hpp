#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace px::controller
