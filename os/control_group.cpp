#include "os/control_group.hpp"

#include "os/private_file.hpp"
#include "wire/text.hpp"

namespace px::os {

std::optional<ControlGroup> read_control_group(std::string_view cgroup_text,
                                               std::string_view controller) {
  const std::string name(controller);
  std::optional<ControlGroup> second_version;
  while (!cgroup_text.empty()) {
    const std::string_view line = take_line(cgroup_text);  // "4:memory:/user" or "0::/user"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers =
        "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    std::string path(line.substr(second + 1));
    if (!path.starts_with('/')) continue;
    if (path == "/") path.clear();
    if (controllers.find("," + name + ",") != std::string::npos)
      return ControlGroup{ControlGroup::Version::first, "/sys/fs/cgroup/" + name, path};
    if (controllers == ",,")
      second_version = ControlGroup{ControlGroup::Version::second, "/sys/fs/cgroup", path};
  }
  return second_version;
}

std::optional<ControlGroup> own_control_group(std::string_view controller) {
  const Result<std::string> groups = read_file("/proc/self/cgroup");
  return groups ? read_control_group(*groups, controller) : std::nullopt;
}

}  // namespace px::os
