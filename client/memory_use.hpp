#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/engine_status.hpp"
#include "wire/json.hpp"

namespace px::client {

/// The shared memory that processes of the cluster hold on one host for large arrays.
struct MemoryUse {
  std::string host;
  /// A segment, which one or several processes have mapped.
  struct Segment {
    std::uint64_t bytes = 0;
    std::vector<EngineId> engines;  ///< The engines that have it mapped, ascending.
    bool has_client = false;        ///< Whether the asking client has it mapped.
  };
  std::vector<Segment> segments;               ///< The largest first.
  std::vector<Segment> on_disk;                ///< The segments in files, used because memory was
                                               ///< full.
  std::optional<double> free = {}, size = {};  ///< Bytes of the file system of /dev/shm.

  /// The sum of the sizes of `segments`, in bytes.
  std::uint64_t bytes() const;
};

/// Returns, for each host, the segments that engines and this process have mapped. A segment that
/// several processes map is counted once. Engines that do not report their segments are left out.
/// own  the content of a usage_reply about this process, as os::process_usage() makes it.
std::vector<MemoryUse> memory_use(const std::vector<EngineStatus>& engines, const Json& own);

/// Returns the use of memory as JSON, for scripts: [{"host": ..., "bytes": ..., "free": ...,
/// "size": ..., "segments": [{"bytes": ..., "engines": [0, 1], "client": false}], "on_disk":
/// [...]}]
Json memory_as_json(const std::vector<MemoryUse>& hosts);
/// Returns text for users: a line for each host that has segments, with the processes that hold
/// them. The text is empty if no host has segments.
std::string memory_as_text(const std::vector<MemoryUse>& hosts);

}  // namespace px::client
