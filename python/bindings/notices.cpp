#include "python/bindings/notices.hpp"

#include <utility>

namespace px::bindings {

void Notices::put(std::uint64_t token) {
  {
    const std::lock_guard lock{mutex_};
    tokens_.push_back(token);
    if (tokens_.size() > 1) return;  // the one who takes is awake
  }
  changed_->notify_one();
}

void Notices::close() {
  {
    const std::lock_guard lock{mutex_};
    is_closed_ = true;
  }
  changed_->notify_all();
}

bool Notices::is_closed() const {
  const std::lock_guard lock{mutex_};
  return is_closed_;
}

std::vector<std::uint64_t> Notices::take(Instant deadline) {
  std::unique_lock lock{mutex_};
  changed_->wait_until(lock, deadline, [this] { return !tokens_.empty() || is_closed_; });
  return std::exchange(tokens_, {});
}

}  // namespace px::bindings
