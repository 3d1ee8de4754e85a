#pragma once

#include <algorithm>
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

/// The lowest of what `value_of(folder)`, an optional number, gives for the group and its parents;
/// nothing if it gives none. In a container the path is the host's and may not be there; the
/// container's group is the root.
template <class ValueOf>
auto lowest_of_groups(const ControlGroup& group, const ValueOf& value_of) {
  decltype(value_of(group.root)) lowest;
  for (std::string path = group.path;; path.erase(path.rfind('/'))) {
    if (const auto value = value_of(group.root + path))
      lowest = lowest ? std::min(*lowest, *value) : *value;
    if (path.empty()) return lowest;
  }
}

/// From the text of /proc/self/cgroup; nothing if the process is in no such group.
/// controller  the resource: "memory", "cpu".
std::optional<ControlGroup> read_control_group(std::string_view cgroup_text,
                                               std::string_view controller);
/// The group of this process, in the same way.
std::optional<ControlGroup> own_control_group(std::string_view controller);

}  // namespace px::os
