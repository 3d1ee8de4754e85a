#include "os/segments/segment_space.hpp"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "os/memory_group.hpp"
#include "os/segments/recent_free_memory.hpp"

namespace px::os {
namespace {

std::string mib(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
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
    return mib(bytes) + " are needed, and " + mib(free) + " of the shared memory (/dev/shm, " +
           mib(all) + ") are free; a quarter of it is left to other programs";
  if (const auto limit = limit_below(bytes))
    return "files of this process may have " + mib(*limit) + " (ulimit -f)";
  static RecentFreeMemory recent;
  const Instant now = Clock::now();
  if (recent.take(bytes, now)) return std::nullopt;
  const auto room = own_memory_left();
  if (room && bytes > *room / 2)
    return mib(bytes) + " are needed, and the control group of this process may use " + mib(*room) +
           " more memory; one array or result gets at most half of that";
  const auto available = available_memory();
  if (available && bytes > *available / 2)
    return mib(bytes) + " are needed, and this host has " + mib(*available) +
           " of memory left; one array or result gets at most half of that";
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
