#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "os/control_group.hpp"

namespace px::os {

/// The control group in which the kernel counts and bounds the memory of a process.
using MemoryGroup = ControlGroup;

/// From the text of /proc/self/cgroup; nothing where the process is in no such group.
std::optional<MemoryGroup> read_memory_group(std::string_view cgroup_text);
/// That of this process.
std::optional<MemoryGroup> own_memory_group();

/// The lowest limit of the group and of those around it, in bytes; nothing where there is none.
std::optional<std::int64_t> memory_limit(const MemoryGroup& group);

/// How much more memory the group may use until one of these limits is met, in bytes, what the
/// kernel keeps of files that nobody uses counting as free; nothing where there is no limit.
std::optional<std::int64_t> memory_left(const MemoryGroup& group);

/// Half of the memory that this process may use, in bytes: of the host's, or of what its control
/// group allows (a batch job, a container). More than that no single thing may take.
std::int64_t half_of_usable_memory();

/// How many processes of this process's control group, and of the groups below it, the kernel has
/// killed for want of memory so far; nothing where the system does not say. Who remembers the
/// number can tell later whether one more was killed.
std::optional<long long> count_oom_kills();

/// The same from the text of a group's memory.events (cgroup v2) or memory.oom_control (v1).
std::optional<long long> read_oom_kills(std::string_view text);

}  // namespace px::os
