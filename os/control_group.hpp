#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace px::os {

/// A group of processes in which the kernel counts and limits a resource: a container, a batch job,
/// a service.
struct ControlGroup {
  enum class Version { first, second };
  Version version = Version::second;
  std::string root = "/sys/fs/cgroup";  ///< The folder of the group of all processes.
  std::string path = {};                ///< Of the group below it: "/user.slice/job7", or empty.
};

/// From the text of /proc/self/cgroup; nothing if the process is in no such group.
/// controller  the resource: "memory", "cpu".
std::optional<ControlGroup> read_control_group(std::string_view cgroup_text,
                                               std::string_view controller);

}  // namespace px::os
