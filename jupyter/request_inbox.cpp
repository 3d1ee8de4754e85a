#include <px/kernel/request_desk.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace px::kernel {

RequestDesk::RequestDesk(Json connection_info)
    : queue_(std::move(connection_info)), event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  check(event_.is_open());
}

void RequestDesk::set_kernel_info(Json content) {
  const std::lock_guard lock{mutex_};
  queue_.set_kernel_info(std::move(content));
}

std::vector<Effect> RequestDesk::arrive(RequestPtr request) {
  const std::lock_guard lock{mutex_};
  return queue_.arrive(std::move(request));
}

bool RequestDesk::is_order(const Request& request) const {
  const std::lock_guard lock{mutex_};
  return queue_.is_order(request);
}

std::vector<Effect> RequestDesk::answer(const RequestPtr& request) const {
  const std::lock_guard lock{mutex_};
  return queue_.answer(request);
}

void RequestDesk::abort_queued_executions() {
  const std::lock_guard lock{mutex_};
  queue_.abort_queued_executions();
}

bool RequestDesk::is_busy() const {
  const std::lock_guard lock{mutex_};
  return queue_.is_busy();
}

std::optional<Job> RequestDesk::take(bool& is_stopped) {
  const std::lock_guard lock{mutex_};
  is_stopped = is_stopped_;
  if (is_stopped) return std::nullopt;
  return queue_.take();
}

std::optional<Job> RequestDesk::wait(const std::function<void(int descriptor)>& idle) {
  for (;;) {
    bool is_stopped = false;
    if (std::optional<Job> job = take(is_stopped); job || is_stopped) return job;
    idle(event_.value());
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_.value(), &count, sizeof count);
  }
}

void RequestDesk::finish() {
  const std::lock_guard lock{mutex_};
  queue_.finish();
}

void RequestDesk::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.value(), &one, sizeof one);
}

void RequestDesk::stop() {
  {
    const std::lock_guard lock{mutex_};
    is_stopped_ = true;
  }
  wake();
}

}  // namespace px::kernel
