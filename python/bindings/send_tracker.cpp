#include "python/bindings/send_tracker.hpp"

#include <utility>

namespace px::bindings {

SharedBytes SendTracker::track(SharedBytes bytes) {
  {
    const std::lock_guard lock{mutex_};
    ++in_use_;
  }
  auto release = [self = shared_from_this(), owner = std::move(bytes.owner)](const void*) mutable {
    owner.reset();
    self->let_go();
  };
  return {bytes.bytes, std::shared_ptr<const void>(bytes.bytes.data(), std::move(release))};
}

bool SendTracker::wait(Instant deadline) const {
  process_.check();
  std::unique_lock lock{mutex_};
  return changed_->wait_until(lock, deadline, [this] { return in_use_ == 0; });
}

void SendTracker::let_go() {
  {
    const std::lock_guard lock{mutex_};
    --in_use_;
  }
  changed_->notify_all();
}

}  // namespace px::bindings
