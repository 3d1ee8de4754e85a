#include <px/engine/inbox.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include <px/net/host_memory.hpp>

namespace px {

Inbox::Inbox(EngineUuid uuid, Packer packer)
    : engine_(std::move(uuid), packer, static_cast<std::size_t>(half_of_host_memory())),
      event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  check(event_.is_open());
}

std::vector<Effect> Inbox::arrive(RequestPtr request) {
  const std::lock_guard lock{mutex_};
  return engine_.arrive(std::move(request), wall_now());
}

std::vector<Effect> Inbox::answer(const RequestPtr& request) {
  const std::lock_guard lock{mutex_};
  return engine_.answer(request);
}

std::vector<Effect> Inbox::answer_aborted(const RequestPtr& request) {
  const std::lock_guard lock{mutex_};
  return engine_.answer_aborted(request, wall_now());
}

void Inbox::abort_queued_executions() {
  const std::lock_guard lock{mutex_};
  engine_.abort_queued_executions();
}

void Inbox::set_id(EngineId id) {
  const std::lock_guard lock{mutex_};
  engine_.set_id(id);
}

EngineIdentity Inbox::identity() const {
  const std::lock_guard lock{mutex_};
  return engine_.identity();
}

bool Inbox::is_busy() const {
  const std::lock_guard lock{mutex_};
  return engine_.is_busy();
}

std::size_t Inbox::queued() const {
  const std::lock_guard lock{mutex_};
  return engine_.queued();
}

std::optional<Job> Inbox::take(bool& is_stopped) {
  const std::lock_guard lock{mutex_};
  is_stopped = is_stopped_;
  if (is_stopped) return std::nullopt;
  return engine_.take();
}

std::optional<Job> Inbox::wait(int signal_descriptor, const std::function<void()>& on_wake) {
  for (;;) {
    bool is_stopped = false;
    if (std::optional<Job> job = take(is_stopped); job || is_stopped) return job;
    std::array<pollfd, 2> sources{{{event_.value(), POLLIN, 0}, {signal_descriptor, POLLIN, 0}}};
    ::poll(sources.data(), sources.size(), -1);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_.value(), &count, sizeof count);
    if (queued() == 0) on_wake();  // before_request() does the same in front of a request
  }
}

void Inbox::finish() {
  const std::lock_guard lock{mutex_};
  engine_.finish();
}

void Inbox::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.value(), &one, sizeof one);
}

void Inbox::stop() {
  {
    const std::lock_guard lock{mutex_};
    is_stopped_ = true;
  }
  wake();
}

}  // namespace px
