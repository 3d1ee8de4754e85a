#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace px::engine {

/// Whether a rank of this engine's MPI world has died, as the controller tells: what waits for that
/// rank in an MPI call waits for ever, and MPI_Finalize waits, too. Any thread may use it.
class BrokenWorld {
 public:
  /// sentence  which rank died, how, and how to get a new world; a later one replaces it.
  void set(std::string sentence) {
    const std::lock_guard lock{mutex_};
    sentence_ = std::move(sentence);
    is_broken_.store(true, std::memory_order_release);
  }
  bool is_broken() const noexcept { return is_broken_.load(std::memory_order_acquire); }
  /// Empty while it is whole.
  std::string sentence() const {
    const std::lock_guard lock{mutex_};
    return sentence_;
  }
  /// The sentence; nothing while it is whole. Cheap enough then to be asked in each MPI call.
  std::optional<std::string> why_broken() const {
    return is_broken() ? std::optional(sentence()) : std::nullopt;
  }

 private:
  std::atomic<bool> is_broken_ = false;
  mutable std::mutex mutex_;  // of the sentence
  std::string sentence_;
};

}  // namespace px::engine
