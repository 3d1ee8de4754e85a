#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace px::os {

/// Why a segment of so many bytes is not to be made in this folder; nothing where there is room:
/// a quarter of the file system stays free for other programs, and a segment takes half at most of
/// what is left of the host's memory and of that of the control group of this process, and no more
/// than a file of this process may have. Of a small segment memory is not looked up, where it was a
/// moment ago: see RecentFreeMemory.
std::optional<std::string> why_no_room(int folder, std::uint64_t bytes);

/// Whether a file of so many bytes is to be made in this folder of a disk: it takes half at most of
/// what is free there. A file system in memory is no disk: see why_no_room().
bool has_disk_room(int folder, std::uint64_t bytes);

/// Whether less than half of the file system of this folder is free.
bool is_short(int folder);

}  // namespace px::os
