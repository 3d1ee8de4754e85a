#include "jupyter/input_channel.hpp"

#include <utility>

namespace px::jupyter {

void InputChannel::set_allowed(bool is_allowed) {
  const std::lock_guard lock{mutex_};
  is_allowed_ = is_allowed;
}

bool InputChannel::is_allowed() const {
  const std::lock_guard lock{mutex_};
  return is_allowed_;
}

void InputChannel::expect() {
  const std::lock_guard lock{mutex_};
  answer_.reset();
  is_expected_ = true;
}

void InputChannel::put(std::string text) {
  const std::lock_guard lock{mutex_};
  if (!is_expected_) return;
  is_expected_ = false;
  answer_ = std::move(text);
  answered_.notify_all();
}

std::optional<std::string> InputChannel::wait(Duration patience) {
  std::unique_lock lock{mutex_};
  answered_.wait_for(lock, patience, [this] { return answer_.has_value(); });
  return std::exchange(answer_, std::nullopt);
}

}  // namespace px::jupyter
