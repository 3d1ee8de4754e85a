#include "os/memory_group.hpp"

#include <algorithm>
#include <charconv>

#include "os/private_file.hpp"
#include "wire/read_text.hpp"

namespace px::os {
namespace {

/// The number in a file; nothing where there is none, as in "max".
std::optional<std::int64_t> read_number(const std::string& file) {
  const Result<std::string> text = read_file(file);
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<MemoryGroup> read_memory_group(std::string_view cgroup_text) {
  std::optional<MemoryGroup> second_version;
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
    if (controllers.find(",memory,") != std::string::npos)
      return MemoryGroup{MemoryGroup::Version::first, "/sys/fs/cgroup/memory", path};
    if (controllers == ",,")
      second_version = MemoryGroup{MemoryGroup::Version::second, "/sys/fs/cgroup", path};
  }
  return second_version;
}

std::optional<MemoryGroup> own_memory_group() {
  const Result<std::string> groups = read_file("/proc/self/cgroup");
  return groups ? read_memory_group(*groups) : std::nullopt;
}

std::optional<std::int64_t> memory_limit(const MemoryGroup& group) {
  const std::string name =
      group.version == MemoryGroup::Version::first ? "/memory.limit_in_bytes" : "/memory.max";
  std::optional<std::int64_t> lowest;
  // In a container the path is the host's and may not be there; the container's group is the root.
  for (std::string path = group.path;; path.erase(path.rfind('/'))) {
    if (const auto limit = read_number(group.root + path + name))
      lowest = lowest ? std::min(*lowest, *limit) : *limit;
    if (path.empty()) return lowest;
  }
}

}  // namespace px::os
