#pragma once

#include <cstdint>
#include <optional>

#include "os/control_group.hpp"

namespace px::os {

/// The control group in which the kernel counts and limits the memory of a process.
using MemoryGroup = ControlGroup;

/// The group of this process.
std::optional<MemoryGroup> own_memory_group();

/// The lowest limit of the group and of its parents, in bytes; nothing if there is none.
std::optional<std::int64_t> memory_limit(const MemoryGroup& group);

/// The memory that the group may still use until one of these limits is reached, in bytes; unused
/// file caches of the kernel count as free; nothing if there is no limit.
std::optional<std::int64_t> memory_left(const MemoryGroup& group);

/// memory_left() of the group of this process; nothing if it is in no group, or has no limit.
std::optional<std::uint64_t> own_memory_left();
/// The memory that the kernel can give on this host without swapping, in bytes; nothing if it does
/// not say so.
std::optional<std::uint64_t> available_memory();
/// The lower one of the two; the largest number if neither is known.
std::uint64_t free_memory();

/// Half of the memory that this process may use, in bytes: of the host's, or of the limit of its
/// control group (a batch job, a container). It is the limit of each single use of memory.
std::int64_t half_of_usable_memory();

/// The number of processes of this process's control group, and of the groups below it, that the
/// kernel has killed for lack of memory so far; nothing if the system does not report it. A later
/// call shows whether one more was killed.
std::optional<long long> count_oom_kills();

/// Reads the number from a group's memory.events (cgroup v2) or memory.oom_control (v1).
std::optional<long long> read_oom_kills(std::string_view text);

}  // namespace px::os
