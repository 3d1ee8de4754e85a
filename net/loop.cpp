#include <px/net/loop.hpp>

#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

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
  const int interrupted_errno = errno;  // we may be in a signal handler
  const std::uint64_t one = 1;
  // A full counter means that a wake-up is pending already.
  [[maybe_unused]] const auto written = ::write(*descriptor_, &one, sizeof one);
  errno = interrupted_errno;
}

struct Loop::State {
  struct Source {
    void* socket = nullptr;  // a zmq socket, or
    int descriptor = -1;     // a file descriptor
    std::function<void()> on_readable;
    bool is_forgotten = false;
  };
  using SharedSource = std::shared_ptr<Source>;

  std::vector<SharedSource> sources;
  // What zmq_poll() reads: the wake-up descriptor, then the sources in their order. Kept from one
  // wait to the next.
  std::vector<zmq_pollitem_t> items;
  std::vector<SharedSource> ready;
  bool is_changed = true;  // sources are no longer what items say
  std::function<void()> on_wake;
  std::shared_ptr<const int> wake_descriptor = new_event_descriptor();

  void add(Source source) {
    sources.push_back(std::make_shared<Source>(std::move(source)));
    is_changed = true;
  }

  void forget(void* socket, int descriptor) {
    std::erase_if(sources, [&](const SharedSource& source) {
      if (source->socket != socket || source->descriptor != descriptor) return false;
      return source->is_forgotten = true;
    });
    is_changed = true;
  }

  void rebuild_items() {
    items.assign(1, {nullptr, *wake_descriptor, ZMQ_POLLIN, 0});
    for (const SharedSource& source : sources)
      items.push_back({source->socket, source->descriptor, ZMQ_POLLIN | ZMQ_POLLERR, 0});
    is_changed = false;
  }

  void take_wake_up() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(*wake_descriptor, &count, sizeof count);
    if (on_wake) on_wake();
  }

  void run_ready() {
    const bool is_woken = items[0].revents != 0;
    // A handler may watch or forget sources, so what is ready is found before any of them runs.
    for (std::size_t i = 1; i < items.size(); ++i)
      if (items[i].revents) ready.push_back(sources[i - 1]);
    if (is_woken) take_wake_up();
    for (const SharedSource& source : ready)
      if (!source->is_forgotten) source->on_readable();
    ready.clear();
  }
};

Loop::Loop() : state_(std::make_unique<State>()) {}
Loop::~Loop() = default;
Loop::Loop(Loop&&) noexcept = default;
Loop& Loop::operator=(Loop&&) noexcept = default;

void Loop::watch(Socket& socket, std::function<void()> on_readable) {
  state_->add({.socket = socket.handle(), .on_readable = std::move(on_readable)});
}

void Loop::watch(int descriptor, std::function<void()> on_readable) {
  state_->add({.descriptor = descriptor, .on_readable = std::move(on_readable)});
}

void Loop::on_wake(std::function<void()> handler) {
  state_->on_wake = std::move(handler);
}

void Loop::forget(const Socket& socket) {
  state_->forget(socket.handle(), -1);
}

void Loop::forget(int descriptor) {
  state_->forget(nullptr, descriptor);
}

void Loop::wait_until(std::optional<Instant> deadline) {
  if (state_->is_changed) state_->rebuild_items();
  std::vector<zmq_pollitem_t>& items = state_->items;
  if (zmq_poll(items.data(), static_cast<int>(items.size()), wait_ms(deadline)) > 0)
    state_->run_ready();
}

Waker Loop::waker() const {
  return Waker{state_->wake_descriptor};
}

}  // namespace px
