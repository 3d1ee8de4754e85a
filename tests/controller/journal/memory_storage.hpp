#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/journal_storage.hpp"

namespace px::controller {

/// Segments in memory, and a disk that fails when a test wants it to.
class MemoryStorage final : public JournalStorage {
 public:
  Result<std::vector<SegmentNumber>> segments() override {
    const std::lock_guard lock{mutex_};
    std::vector<SegmentNumber> numbers;
    for (const auto& [number, text] : texts_) numbers.push_back(number);
    return numbers;
  }
  Result<std::string> read(SegmentNumber segment) override {
    const std::lock_guard lock{mutex_};
    return texts_.at(segment);
  }
  Result<void> append(SegmentNumber segment, std::string_view text) override {
    const std::lock_guard lock{mutex_};
    if (is_full_) return Error{ErrorKind::system, "No space left on device"};
    texts_[segment] += text;
    return {};
  }
  Result<void> sync() override {
    const std::lock_guard lock{mutex_};
    if (has_failed_) return Error{ErrorKind::system, "Input/output error"};
    synced_ = texts_;
    return {};
  }
  Result<void> sync_all() override { return sync(); }
  Result<void> remove(SegmentNumber segment) override {
    const std::lock_guard lock{mutex_};
    texts_.erase(segment);
    return {};
  }

  void set_full(bool is_full) {
    const std::lock_guard lock{mutex_};
    is_full_ = is_full;
  }
  void fail_to_sync() {
    const std::lock_guard lock{mutex_};
    has_failed_ = true;
  }
  /// Only what was forced to the disk is left.
  void lose_power() {
    const std::lock_guard lock{mutex_};
    texts_ = synced_;
  }
  std::size_t count() const {
    const std::lock_guard lock{mutex_};
    return texts_.size();
  }
  std::size_t bytes() const {
    const std::lock_guard lock{mutex_};
    std::size_t bytes = 0;
    for (const auto& [number, text] : texts_) bytes += text.size();
    return bytes;
  }

 private:
  mutable std::mutex mutex_;
  std::map<SegmentNumber, std::string> texts_, synced_;
  bool is_full_ = false, has_failed_ = false;
};

}  // namespace px::controller
