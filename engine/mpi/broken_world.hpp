#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace px::engine {

/// Whether a rank of this engine's MPI world has died, according to the controller: an MPI call
/// that waits for that rank never returns, and MPI_Finalize waits, too. Any thread may use it.
class BrokenWorld {
 public:
  /// sentence  which rank died, how, and how to get a new world; a later sentence replaces it.
  void set(std::string sentence) {
    const std::lock_guard lock{mutex_};
    sentence_ = std::move(sentence);
    is_broken_.store(true, std::memory_order_release);
  }
  bool is_broken() const noexcept { return is_broken_.load(std::memory_order_acquire); }
  /// Empty while the world is complete.
  std::string sentence() const {
    const std::lock_guard lock{mutex_};
    return sentence_;
  }
  /// The sentence; nothing while the world is complete. Cheap enough in that case for a check in
  /// each MPI call.
  std::optional<std::string> why_broken() const {
    return is_broken() ? std::optional(sentence()) : std::nullopt;
  }

 private:
  std::atomic<bool> is_broken_ = false;
  mutable std::mutex mutex_;  // guards the sentence
  std::string sentence_;
};

}  // namespace px::engine
