#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/journal_buffer.hpp"
#include "controller/journal/journal_storage.hpp"
#include "net/loop.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// A storage whose write() does not wait for the disk: it puts the bytes into a JournalBuffer in
/// shared memory, which outlives the process, and a separate thread writes them to the disk in
/// their order. So the I/O thread continues while the disk hangs, until the buffer is full. While
/// the disk is full, write() fails, and the thread tries again.
///
/// The Journal calls it on the I/O thread, except for sync(), which the SyncThread calls. sync(),
/// segments(), read() and sync_all() wait for the disk; all others do not, but see write().
class BufferedStorage final : public JournalStorage {
 public:
  struct Times {
    Duration pause = std::chrono::milliseconds(5);    ///< Between two writes, so that bytes are
                                                      ///< collected.
    Duration retry = std::chrono::milliseconds(500);  ///< After a failure.
    Duration slowness = std::chrono::seconds(2);      ///< Longest wait for space in a full buffer.
    Duration patience = std::chrono::seconds(10);     ///< The disk hangs if one step takes longer.
    Duration end = std::chrono::seconds(3);           ///< Longest wait of the destructor.
  };
  /// buffer  what an earlier process left in it is written to the disk first.
  BufferedStorage(std::shared_ptr<JournalStorage> disk, std::unique_ptr<JournalBuffer> buffer,
                  const Times& times);
  BufferedStorage(std::shared_ptr<JournalStorage> disk, std::unique_ptr<JournalBuffer> buffer)
      : BufferedStorage(std::move(disk), std::move(buffer), Times{}) {}
  /// Waits for the disk for some time. Bytes that are not written by then stay in the buffer for
  /// the next process; an empty buffer is removed.
  ~BufferedStorage() override;
  BufferedStorage(BufferedStorage&&) = delete;

  Result<std::vector<SegmentNumber>> segments() override;
  Result<std::string> read(SegmentNumber segment) override;
  /// Waits for a slow disk if the buffer is full, and for any disk if shared memory has no room for
  /// the buffer.
  /// errors  overloaded: the buffer is full, and the disk does not answer; system: shared memory is
  ///         full, or the disk failed.
  Result<void> write(SegmentNumber segment, std::uint64_t offset, std::string_view text) override;
  Result<void> sync() override;
  Result<void> sync_all() override;
  Result<void> remove(SegmentNumber segment) override;
  Result<void> set_aside(SegmentNumber segment) override;
  void stop_waiting() override;
  std::string name_of(SegmentNumber segment) const override;

  bool accepts() const override;
  std::optional<Result<std::string>> read_later(SegmentNumber segment) override;
  std::optional<std::string> trouble() const override;
  std::vector<std::string> take_errors() override;
  void set_waker(net::Waker waker) override;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the thread, which a disk that hangs may keep
                                        // longer
};

}  // namespace px::controller
