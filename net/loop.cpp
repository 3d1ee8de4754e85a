#include <px/net/loop.hpp>

#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cstdint>

namespace px {
namespace {

std::shared_ptr<const int> new_event_descriptor() {
  const int descriptor = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  check(descriptor >= 0);
  return {new int(descriptor), [](const int* held) {
            ::close(*held);
            delete held;
          }};
}

/// Milliseconds to wait, rounded up so that the deadline has passed when the wait ends.
long wait_ms(std::optional<Instant> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return std::clamp<long>(left, 0, 3600 * 1000);
}

}  // namespace

void Waker::wake() const {
  if (!descriptor_) return;
  const std::uint64_t one = 1;
  // A full counter means that a wake-up is pending already.
  [[maybe_unused]] const auto written = ::write(*descriptor_, &one, sizeof one);
}

Loop::Loop() : wake_descriptor_(new_event_descriptor()) {}

void Loop::watch(Socket& socket, std::function<void()> on_readable) {
  sources_.push_back({socket.handle(), -1,
                      std::make_shared<std::function<void()>>(std::move(on_readable))});
}

void Loop::watch(int descriptor, std::function<void()> on_readable) {
  sources_.push_back({nullptr, descriptor,
                      std::make_shared<std::function<void()>>(std::move(on_readable))});
}

void Loop::forget(const Socket& socket) {
  std::erase_if(sources_, [&](const Source& source) { return source.socket == socket.handle(); });
}

void Loop::forget(int descriptor) {
  std::erase_if(sources_, [&](const Source& source) {
    return !source.socket && source.descriptor == descriptor;
  });
}

void Loop::wait_until(std::optional<Instant> deadline) {
  std::vector<zmq_pollitem_t> items;
  items.reserve(sources_.size() + 1);
  items.push_back({nullptr, *wake_descriptor_, ZMQ_POLLIN, 0});
  for (const Source& source : sources_)
    items.push_back({source.socket, source.descriptor, ZMQ_POLLIN | ZMQ_POLLERR, 0});
  if (zmq_poll(items.data(), static_cast<int>(items.size()), wait_ms(deadline)) <= 0) return;
  if (items[0].revents) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(*wake_descriptor_, &count, sizeof count);
    if (on_wake_) on_wake_();
  }
  // A handler may watch or forget sources: run a copy of what was ready.
  std::vector<std::shared_ptr<std::function<void()>>> ready;
  for (std::size_t i = 1; i < items.size(); ++i)
    if (items[i].revents && i - 1 < sources_.size()) ready.push_back(sources_[i - 1].on_readable);
  for (const auto& handler : ready)
    if (handler.use_count() > 1) (*handler)();
}

}  // namespace px
