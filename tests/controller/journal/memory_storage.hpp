#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/journal_storage.hpp"

namespace px::controller {

/// The process that was writing has died.
struct Died {};

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
  Result<void> write(SegmentNumber segment, std::uint64_t offset, std::string_view text) override {
    std::unique_lock lock{mutex_};
    is_used_ = true;
    answers_.notify_all();
    answers_.wait(lock, [this] { return !hangs_; });
    is_used_ = false;
    if (is_full_) return Error{ErrorKind::system, "No space left on device"};
    ++writes_;
    const bool dies = writes_left_ > 0 && --writes_left_ == 0;
    if (dies) text = text.substr(0, last_bytes_);
    std::string& whole = texts_[segment];
    check(offset <= whole.size());
    whole.replace(offset, text.size(), text);
    if (dies) throw Died{};
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
  Result<void> set_aside(SegmentNumber segment) override {
    const std::lock_guard lock{mutex_};
    aside_.merge(std::map{std::pair{segment, texts_.at(segment)}});
    texts_.erase(segment);
    return {};
  }
  bool accepts() const override {
    const std::lock_guard lock{mutex_};
    return !is_full_ || !says_when_full_;
  }

  /// Of the next writes the one of this number, from 1, writes so many bytes at most and throws Died.
  void die_in_write(int number, std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    writes_left_ = number;
    last_bytes_ = bytes;
  }
  void set_full(bool is_full) {
    const std::lock_guard lock{mutex_};
    is_full_ = is_full;
  }
  void fail_to_sync() {
    const std::lock_guard lock{mutex_};
    has_failed_ = true;
  }
  /// While it is full it does not accept, so that no write is tried.
  void say_when_full() {
    const std::lock_guard lock{mutex_};
    says_when_full_ = true;
  }
  /// It answers no write until this ends.
  void set_hanging(bool hangs) {
    const std::lock_guard lock{mutex_};
    hangs_ = hangs;
    answers_.notify_all();
  }
  /// Until a write is waiting for it.
  void wait_until_used() {
    std::unique_lock lock{mutex_};
    answers_.wait(lock, [this] { return is_used_; });
  }
  /// Changes what stands there.
  void change(const std::function<void(std::map<SegmentNumber, std::string>&)>& how) {
    const std::lock_guard lock{mutex_};
    how(texts_);
  }
  std::map<SegmentNumber, std::string> aside() const {
    const std::lock_guard lock{mutex_};
    return aside_;
  }
  /// How many writes there were.
  std::size_t writes() const {
    const std::lock_guard lock{mutex_};
    return writes_;
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
  std::condition_variable answers_;
  std::map<SegmentNumber, std::string> texts_, synced_, aside_;
  bool is_full_ = false, has_failed_ = false, says_when_full_ = false;
  int writes_left_ = 0;         // until it dies; 0: it does not
  std::size_t last_bytes_ = 0;  // of that write
  bool hangs_ = false, is_used_ = false;
  std::size_t writes_ = 0;
};

}  // namespace px::controller
