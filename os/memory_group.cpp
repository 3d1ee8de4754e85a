#include "os/memory_group.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "os/private_file.hpp"
#include "wire/text.hpp"

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

/// The member of memory.stat, 0 where there is none.
std::int64_t read_statistic(const std::string& folder, std::string_view name) {
  const Result<std::string> read = read_file(folder + "/memory.stat");
  std::string_view text = read ? std::string_view(*read) : std::string_view();
  while (!text.empty()) {
    const std::string_view line = take_line(text);  // "inactive_file 4096"
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ') continue;
    std::int64_t number = 0;
    std::from_chars(line.data() + name.size() + 1, line.data() + line.size(), number);
    return number;
  }
  return 0;
}

}  // namespace

std::optional<MemoryGroup> own_memory_group() {
  return own_control_group("memory");
}

std::optional<std::int64_t> memory_limit(const MemoryGroup& group) {
  const std::string name =
      group.version == MemoryGroup::Version::first ? "/memory.limit_in_bytes" : "/memory.max";
  return lowest_of_groups(group,
                          [&](const std::string& folder) { return read_number(folder + name); });
}

std::optional<std::int64_t> memory_left(const MemoryGroup& group) {
  const bool is_first = group.version == MemoryGroup::Version::first;
  const char* const limit_name = is_first ? "/memory.limit_in_bytes" : "/memory.max";
  const char* const used_name = is_first ? "/memory.usage_in_bytes" : "/memory.current";
  const char* const cached_name = is_first ? "total_inactive_file" : "inactive_file";
  return lowest_of_groups(group, [&](const std::string& folder) -> std::optional<std::int64_t> {
    const auto limit = read_number(folder + limit_name), used = read_number(folder + used_name);
    if (!limit || !used) return std::nullopt;
    return std::max<std::int64_t>(0, *limit - *used + read_statistic(folder, cached_name));
  });
}

std::optional<std::uint64_t> own_memory_left() {
  static const std::optional<MemoryGroup> group = own_memory_group();
  const auto left = group ? memory_left(*group) : std::nullopt;
  return left ? std::optional(static_cast<std::uint64_t>(*left)) : std::nullopt;
}

std::optional<std::uint64_t> available_memory() {
  constexpr std::string_view key = "MemAvailable:";
  const Result<std::string> text = read_file("/proc/meminfo");
  const std::size_t at = text ? text->find(key) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(text->c_str() + at + key.size(), nullptr, 10) << 10;
}

std::uint64_t free_memory() {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return std::min(own_memory_left().value_or(most), available_memory().value_or(most));
}

std::int64_t half_of_usable_memory() {
  const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto host = pages * static_cast<std::int64_t>(::sysconf(_SC_PAGE_SIZE));
  const auto group = own_memory_group();
  const auto limit = group ? memory_limit(*group) : std::nullopt;
  return std::min(host, limit.value_or(host)) / 2;
}

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
