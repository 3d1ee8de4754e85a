#include "os/segments/segment_space.hpp"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "os/memory_group.hpp"
#include "os/private_file.hpp"
#include "os/segments/recent_free_memory.hpp"

namespace px::os {
namespace {

std::string mib(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

/// What the control group of this process leaves; nothing where there is no limit.
std::optional<std::uint64_t> room_of_group() {
  static const std::optional<MemoryGroup> group = own_memory_group();
  const auto left = group ? memory_left(*group) : std::nullopt;
  return left ? std::optional(static_cast<std::uint64_t>(*left)) : std::nullopt;
}

/// What the kernel can give without swapping.
std::optional<std::uint64_t> available_memory() {
  constexpr std::string_view key = "MemAvailable:";
  const Result<std::string> text = read_file("/proc/meminfo");
  const std::size_t at = text ? text->find(key) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(text->c_str() + at + key.size(), nullptr, 10) << 10;
}

/// The size that files of this process may have, where that is less.
std::optional<std::uint64_t> limit_below(std::uint64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      bytes <= limit.rlim_cur)
    return std::nullopt;
  return limit.rlim_cur;
}

bool is_in_memory(int folder) {
  struct statfs system {};
  return ::fstatfs(folder, &system) == 0 &&
         (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

std::uint64_t free_bytes(const struct statvfs& system) {
  return static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
}

}  // namespace

std::optional<std::string> why_no_room(int folder, std::uint64_t bytes) {
  struct statvfs system {};
  if (::fstatvfs(folder, &system) != 0) return std::string(std::strerror(errno));
  const std::uint64_t free = free_bytes(system);
  const std::uint64_t all = static_cast<std::uint64_t>(system.f_blocks) * system.f_frsize;
  if (bytes > free || free - bytes < all / 4)
    return "an array has " + mib(bytes) + ", and of shared memory (/dev/shm, " + mib(all) + ") " +
           mib(free) + " are free; a quarter of all is left to other programs";
  if (const auto limit = limit_below(bytes))
    return "files of this process may have " + mib(*limit) + " (ulimit -f)";
  static RecentFreeMemory recent;
  const Instant now = Clock::now();
  if (recent.take(bytes, now)) return std::nullopt;
  const auto room = room_of_group();
  if (room && bytes > *room / 2)
    return "an array has " + mib(bytes) + ", and the control group of this process may use " +
           mib(*room) + " more of memory; an array gets half of that at most";
  const auto available = available_memory();
  if (available && bytes > *available / 2)
    return "an array has " + mib(bytes) + ", and this host has " + mib(*available) +
           " of memory left; an array gets half of that at most";
  if (available) recent.note(std::min(*available, room.value_or(*available)) - bytes, now);
  return std::nullopt;
}

bool has_disk_room(int folder, std::uint64_t bytes) {
  if (is_in_memory(folder)) return !why_no_room(folder, bytes);
  struct statvfs system {};
  return ::fstatvfs(folder, &system) == 0 && bytes <= free_bytes(system) / 2 && !limit_below(bytes);
}

bool is_short(int folder) {
  struct statvfs system {};
  return ::fstatvfs(folder, &system) == 0 && system.f_bavail < system.f_blocks / 2;
}

}  // namespace px::os
