#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace px::os {

/// Why a segment of this size must not be made in this folder; nothing if there is room. A quarter
/// of the file system stays free for other programs, and a segment takes at most half of the free
/// memory of the host and of this process's control group, and no more than a file of this process
/// may have. For a small segment the check is omitted if there was room recently: see
/// RecentFreeMemory.
std::optional<std::string> why_no_room(int folder, std::uint64_t bytes);

/// Whether a file of this size may be made in this folder of a disk: it takes at most half of the
/// free space. A file system in memory does not count as a disk: see why_no_room().
bool has_disk_room(int folder, std::uint64_t bytes);

/// Whether less than half of the file system of this folder is free.
bool is_short(int folder);

}  // namespace px::os
