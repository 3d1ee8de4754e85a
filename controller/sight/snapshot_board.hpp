#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "controller/sight/snapshot.hpp"

namespace px::controller {

/// Receives each new snapshot from the hub's thread, and gives the latest to other threads. It
/// outlives all of them.
class SnapshotBoard {
 public:
  using SharedSnapshot = std::shared_ptr<const Snapshot>;

  /// Called on the hub's thread with each new snapshot: it must be quick. May be null. After this
  /// function has returned the earlier listener is not called any more. Any thread except the hub's
  /// may call it.
  void on_new(std::function<void(const SharedSnapshot&)> listener) {
    const std::lock_guard lock{mutex_};
    listener_ = std::move(listener);
  }
  /// The hub's thread: the next snapshot, once a second.
  void put(SharedSnapshot snapshot) {
    const std::lock_guard lock{mutex_};
    latest_ = std::move(snapshot);
    if (listener_) listener_(latest_);
  }
  /// Null before the first one. Any thread.
  SharedSnapshot latest() const {
    const std::lock_guard lock{mutex_};
    return latest_;
  }

 private:
  mutable std::mutex mutex_;
  SharedSnapshot latest_;
  std::function<void(const SharedSnapshot&)> listener_;
};

}  // namespace px::controller
