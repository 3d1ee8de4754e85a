#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/journal_index.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// Where the segments of a journal lie. One thread calls it, but for sync().
class JournalStorage {
 public:
  virtual ~JournalStorage() = default;
  /// Those that are there, the oldest first.
  virtual Result<std::vector<SegmentNumber>> segments() = 0;
  virtual Result<std::string> read(SegmentNumber segment) = 0;
  /// Writes all of it at the end of the segment or, where that fails, nothing. A segment that is
  /// not there is made. What is written outlives the process, not a loss of power.
  virtual Result<void> append(SegmentNumber segment, std::string_view text) = 0;
  /// Forces to the disk what was appended before the call. Any thread may call it.
  virtual Result<void> sync() = 0;
  /// The same of all segments, also of those that an earlier process has written.
  virtual Result<void> sync_all() = 0;
  virtual Result<void> remove(SegmentNumber segment) = 0;
};

}  // namespace px::controller
