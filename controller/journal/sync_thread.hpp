#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "controller/journal/journal_storage.hpp"
#include "net/loop.hpp"

namespace px::controller {

/// Forces the written bytes of a journal to the disk, without making the writing thread wait. Only
/// a journal with JournalMode::power has one. The I/O thread calls it.
class JournalSync {
 public:
  virtual ~JournalSync() = default;
  /// All up to this number is written, and must be forced to the disk.
  virtual void request(std::uint64_t number) = 0;
  /// All up to this number is on the disk.
  virtual std::uint64_t synced() const = 0;
  /// The error of the disk. After it nothing more is forced to the disk, and bytes that were not
  /// yet on the disk never count as being there: after a failed fsync() it is unknown what the disk
  /// contains.
  virtual std::optional<Error> error() const = 0;
};

/// A JournalSync with a separate thread: all bytes written while one sync() runs are covered by the
/// next one together.
class SyncThread final : public JournalSync {
 public:
  /// storage  its sync() is called on the thread.
  /// waker    wakes the I/O thread when more is on the disk, or after a failure.
  SyncThread(std::shared_ptr<JournalStorage> storage, net::Waker waker);
  ~SyncThread() override;
  SyncThread(SyncThread&&) = delete;

  void request(std::uint64_t number) override;
  std::uint64_t synced() const override;
  std::optional<Error> error() const override;

 private:
  void run();
  const std::shared_ptr<JournalStorage> storage_;
  const net::Waker waker_;
  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  std::uint64_t requested_ = 0, synced_ = 0;
  std::optional<Error> error_;
  bool is_stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace px::controller
