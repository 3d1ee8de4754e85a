#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/engine_status.hpp"
#include "wire/json.hpp"

namespace px::client {

/// What processes of the cluster hold of a host's shared memory: segments with large arrays.
struct MemoryUse {
  std::string host;
  struct Segment {
    std::uint64_t bytes = 0;
    std::vector<EngineId> engines;  ///< That have it mapped; ascending.
    bool has_client = false;        ///< So has the client that asks.
  };
  std::vector<Segment> segments;               ///< The largest first.
  std::vector<Segment> on_disk;                ///< Those that memory had no room for, likewise.
  std::optional<double> free = {}, size = {};  ///< Bytes of the file system of /dev/shm.

  /// Of those in memory.
  std::uint64_t bytes() const;
};

/// By host, of those engines that say what they have; and what this process has.
/// own  content of a usage_reply about this process: see os::process_usage().
std::vector<MemoryUse> memory_use(const std::vector<EngineStatus>& engines, const Json& own);

/// [{"host": ..., "bytes": ..., "free": ..., "size": ..., "segments": [{"bytes": ..., "engines":
/// [0, 1], "client": false}], "on_disk": [...]}]
Json memory_as_json(const std::vector<MemoryUse>& hosts);
/// A line for each host that has segments, with those who hold them; empty where none has.
std::string memory_as_text(const std::vector<MemoryUse>& hosts);

}  // namespace px::client
