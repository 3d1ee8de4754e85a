#include "os/oom_kills.hpp"

#include <charconv>
#include <string>

#include "os/memory_group.hpp"
#include "os/private_file.hpp"
#include "wire/text_parsing.hpp"

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

std::optional<long long> count_oom_kills() {
  const auto group = own_memory_group();
  if (!group) return std::nullopt;
  const std::string name =
      group->version == MemoryGroup::Version::first ? "/memory.oom_control" : "/memory.events";
  // In a container the group has the name that the host gives it, and lies where all groups do.
  for (const std::string& folder : {group->root + group->path, group->root})
    if (const Result<std::string> text = read_file(folder + name)) return read_oom_kills(*text);
  return std::nullopt;
}

}  // namespace px::os
