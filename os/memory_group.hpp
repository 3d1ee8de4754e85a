#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace px::os {

/// The control group in which the kernel counts and bounds the memory of a process.
struct MemoryGroup {
  enum class Version { first, second };
  Version version = Version::second;
  std::string root = "/sys/fs/cgroup";  ///< The folder of the group of all processes.
  std::string path = {};                ///< Of the group below it: "/user.slice/job7", or empty.
};

/// From the text of /proc/self/cgroup; nothing where the process is in no such group.
std::optional<MemoryGroup> read_memory_group(std::string_view cgroup_text);
/// That of this process.
std::optional<MemoryGroup> own_memory_group();

/// The lowest limit of the group and of those around it, in bytes; nothing where there is none.
std::optional<std::int64_t> memory_limit(const MemoryGroup& group);

/// How much more memory the group may use until one of these limits is met, in bytes, what the
/// kernel keeps of files that nobody uses counting as free; nothing where there is no limit.
std::optional<std::int64_t> memory_left(const MemoryGroup& group);

}  // namespace px::os
