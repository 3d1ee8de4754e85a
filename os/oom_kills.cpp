#include "os/oom_kills.hpp"

#include <charconv>
#include <filesystem>

#include "os/private_file.hpp"
#include "wire/read_text.hpp"

namespace px::os {
std::optional<long long> read_oom_kills(std::string_view text) {
  constexpr std::string_view key = "oom_kill ";
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!line.starts_with(key)) continue;
    long long count = 0;
    const auto [end, error] =
        std::from_chars(line.data() + key.size(), line.data() + line.size(), count);
    if (error == std::errc{}) return count;
  }
  return std::nullopt;
}

std::string oom_kills_file(std::string_view cgroup_text) {
  std::string second_version;
  while (!cgroup_text.empty()) {
    const std::string_view line = take_line(cgroup_text);  // "4:memory:/user" or "0::/user"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers =
        "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    std::string group(line.substr(second + 1));
    if (group == "/") group.clear();
    if (controllers.find(",memory,") != std::string::npos)
      return "/sys/fs/cgroup/memory" + group + "/memory.oom_control";
    if (controllers == ",,") second_version = "/sys/fs/cgroup" + group + "/memory.events";
  }
  return second_version;
}

std::optional<long long> count_oom_kills() {
  const Result<std::string> groups = read_file("/proc/self/cgroup");
  if (!groups) return std::nullopt;
  const std::filesystem::path file = oom_kills_file(*groups);
  // In a container the group has the name that the host gives it, and lies where all groups do.
  const std::filesystem::path folder =
      file.filename() == "memory.events" ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
  for (const std::filesystem::path& path : {file, folder / file.filename()})
    if (const Result<std::string> text = read_file(path)) return read_oom_kills(*text);
  return std::nullopt;
}

}  // namespace px::os
