#include "jupyter/request_inbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "os/memory_group.hpp"

namespace px::jupyter {

RequestInbox::RequestInbox(const ReplyFormats& formats)
    : queue_(formats, static_cast<std::size_t>(os::half_of_usable_memory())),
      event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  check(event_.is_open());
}

void RequestInbox::set_kernel_info(Json content) {
  const std::lock_guard lock{mutex_};
  queue_.set_kernel_info(std::move(content));
}

void RequestInbox::set_connect_reply(Json content) {
  const std::lock_guard lock{mutex_};
  queue_.set_connect_reply(std::move(content));
}

std::vector<Effect> RequestInbox::arrive(RequestPtr request) {
  const std::lock_guard lock{mutex_};
  return queue_.arrive(std::move(request), wall_now());
}

bool RequestInbox::is_order(const Request& request) const {
  const std::lock_guard lock{mutex_};
  return queue_.is_order(request);
}

std::vector<Effect> RequestInbox::answer(const RequestPtr& request) {
  const std::lock_guard lock{mutex_};
  return queue_.answer(request);
}

std::vector<Effect> RequestInbox::answer_aborted(const RequestPtr& request) const {
  const std::lock_guard lock{mutex_};
  return queue_.answer_aborted(request, wall_now());
}

void RequestInbox::abort_queued_executions(const RequestPtr& failed) {
  const std::lock_guard lock{mutex_};
  queue_.abort_queued_executions(failed);
}

std::size_t RequestInbox::queued() const {
  const std::lock_guard lock{mutex_};
  return queue_.queued();
}

std::size_t RequestInbox::unfinished() const {
  const std::lock_guard lock{mutex_};
  return queue_.queued() + (queue_.is_busy() ? 1 : 0);
}

RequestPtr RequestInbox::take_back(std::size_t peer, std::size_t socket, const MessageId& msg_id) {
  const std::lock_guard lock{mutex_};
  return queue_.take_back(peer, socket, msg_id);
}

std::vector<RequestPtr> RequestInbox::take_back_all(std::size_t peer, std::size_t socket) {
  const std::lock_guard lock{mutex_};
  return queue_.take_back_all(peer, socket);
}

void RequestInbox::interrupt(const InterruptScope& scope,
                             const std::function<void()>& interrupt_main) {
  // With the lock: the main thread takes the next request by a system call after finish(), and gets
  // a signal that was sent before at its latest there.
  const std::lock_guard lock{mutex_};
  if (queue_.interrupt(scope)) interrupt_main();
}

std::optional<Job> RequestInbox::take(bool& is_stopped) {
  const std::lock_guard lock{mutex_};
  is_stopped = is_stopped_;
  if (is_stopped) return std::nullopt;
  return queue_.take();
}

std::optional<Job> RequestInbox::wait(const std::function<void(int descriptor)>& idle) {
  for (;;) {
    std::uint64_t count = 0;  // first: a wake-up from here on ends idle()
    [[maybe_unused]] const auto got = ::read(event_.value(), &count, sizeof count);
    bool is_stopped = false;
    if (std::optional<Job> job = take(is_stopped); job || is_stopped) return job;
    idle(event_.value());
  }
}

bool RequestInbox::begin() {
  const std::lock_guard lock{mutex_};
  return queue_.begin(Clock::now());
}

void RequestInbox::end_cell(std::string error) {
  const std::lock_guard lock{mutex_};
  queue_.end_cell(std::move(error));
}

void RequestInbox::finish(bool is_failed) {
  const std::lock_guard lock{mutex_};
  queue_.count(is_failed, Clock::now());
  queue_.finish();
}

WorkReport RequestInbox::take_report() {
  const std::lock_guard lock{mutex_};
  return queue_.take_report();
}

void RequestInbox::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.value(), &one, sizeof one);
}

bool RequestInbox::is_stopped() const {
  const std::lock_guard lock{mutex_};
  return is_stopped_;
}

void RequestInbox::stop() {
  {
    const std::lock_guard lock{mutex_};
    is_stopped_ = true;
  }
  wake();
}

}  // namespace px::jupyter
