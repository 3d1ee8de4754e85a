#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/journal_index.hpp"
#include "net/loop.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// Where the segments of a journal lie: FolderStorage has them as files, BufferedStorage puts a
/// buffer in front of another storage, tests have them in memory. It knows nothing of records. One
/// thread calls it, but for sync().
class JournalStorage {
 public:
  virtual ~JournalStorage() = default;
  /// Those that are there, the oldest first.
  virtual Result<std::vector<SegmentNumber>> segments() = 0;
  virtual Result<std::string> read(SegmentNumber segment) = 0;
  /// Writes all of it there or, where that fails, nothing. What is written outlives the process,
  /// not a loss of power.
  /// offset  the end of the segment; 0: the segment is made.
  virtual Result<void> write(SegmentNumber segment, std::uint64_t offset,
                             std::string_view text) = 0;
  /// Forces to the disk what was written before the call. Any thread may call it.
  virtual Result<void> sync() = 0;
  /// The same of all segments, also of those that an earlier process has written.
  virtual Result<void> sync_all() = 0;
  virtual Result<void> remove(SegmentNumber segment) = 0;
  /// No journal reads it any more, and it stays for who wants to see what is wrong with it.
  virtual Result<void> set_aside(SegmentNumber segment) = 0;

  /// From now on sync() fails where it would wait for what is not written yet.
  virtual void stop_waiting() {}

  /// For messages: where the segment is, and where it is once it was set aside.
  virtual std::string name_of(SegmentNumber segment) const;
  virtual std::string name_set_aside(SegmentNumber segment) const;

  /// Whether write() may succeed: false from a failure on until a later attempt has succeeded.
  virtual bool accepts() const { return true; }
  /// read(), which does not wait for a disk: nothing until the text is there.
  virtual std::optional<Result<std::string>> read_later(SegmentNumber segment) {
    return read(segment);
  }
  /// Why nothing has reached the disk for a while, in one sentence; nothing: all is well.
  virtual std::optional<std::string> trouble() const { return std::nullopt; }
  /// Failures since the last call of operations that return before the disk has answered; one
  /// sentence each.
  virtual std::vector<std::string> take_errors() { return {}; }
  /// Is woken when accepts() or read_later() may say something else.
  virtual void set_waker(net::Waker) {}
};

inline std::string JournalStorage::name_of(SegmentNumber segment) const {
  return "segment " + std::to_string(segment);
}

inline std::string JournalStorage::name_set_aside(SegmentNumber segment) const {
  return name_of(segment) + ".damaged";
}

}  // namespace px::controller
