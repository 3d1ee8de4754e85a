#pragma once

#include <optional>
#include <string_view>

namespace px::os {

/// How many processes of this process's control group, and of the groups below it, the kernel has
/// killed for want of memory so far; nothing where the system does not say. Who remembers the
/// number can tell later whether one more was killed.
std::optional<long long> count_oom_kills();

/// The same from the text of a group's memory.events (cgroup v2) or memory.oom_control (v1).
std::optional<long long> read_oom_kills(std::string_view text);

}  // namespace px::os
