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

/// The storage of a journal's segments: FolderStorage has them as files, BufferedStorage puts a
/// buffer in front of another storage, tests have them in memory. It does not interpret records.
/// One thread calls it, except for sync().
class JournalStorage {
 public:
  virtual ~JournalStorage() = default;
  /// The existing segments, the oldest first.
  virtual Result<std::vector<SegmentNumber>> segments() = 0;
  virtual Result<std::string> read(SegmentNumber segment) = 0;
  /// Writes the whole text or, if that fails, nothing. Written bytes outlive the process, but not a
  /// loss of power.
  /// offset  the end of the segment; 0: the segment is made.
  virtual Result<void> write(SegmentNumber segment, std::uint64_t offset,
                             std::string_view text) = 0;
  /// Forces the bytes written before the call to the disk. Any thread may call it.
  virtual Result<void> sync() = 0;
  /// Like sync(), for all segments, including those that an earlier process has written.
  virtual Result<void> sync_all() = 0;
  virtual Result<void> remove(SegmentNumber segment) = 0;
  /// The segment is no longer read by a journal, and stays for inspection.
  virtual Result<void> set_aside(SegmentNumber segment) = 0;

  /// From now on sync() fails if it would wait for bytes that are not written yet.
  virtual void stop_waiting() {}

  /// For messages: the path of the segment, and its path after it was set aside.
  virtual std::string name_of(SegmentNumber segment) const;
  virtual std::string name_set_aside(SegmentNumber segment) const;

  /// Whether write() may succeed: false from a failure on until a later attempt has succeeded.
  virtual bool accepts() const { return true; }
  /// Like read(), without waiting for a disk: nothing until the text is available.
  virtual std::optional<Result<std::string>> read_later(SegmentNumber segment) {
    return read(segment);
  }
  /// The reason why nothing has reached the disk for some time, in one sentence; nothing if there
  /// is no problem.
  virtual std::optional<std::string> trouble() const { return std::nullopt; }
  /// Failures since the last call, of operations that return before the disk has answered; one
  /// sentence each.
  virtual std::vector<std::string> take_errors() { return {}; }
  /// Woken when the result of accepts() or read_later() may have changed.
  virtual void set_waker(net::Waker) {}
};

inline std::string JournalStorage::name_of(SegmentNumber segment) const {
  return "segment " + std::to_string(segment);
}

inline std::string JournalStorage::name_set_aside(SegmentNumber segment) const {
  return name_of(segment) + ".damaged";
}

}  // namespace px::controller
