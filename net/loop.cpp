#include "net/loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "os/descriptor.hpp"
#include "os/poll_timeout.hpp"

namespace px::net {
namespace {

std::shared_ptr<const int> new_event_descriptor() {
  const int descriptor = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  check(descriptor >= 0);
  return {new int(descriptor), [](const int* held) {
            ::close(*held);
            delete held;
          }};
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
    std::uint64_t number = 0;     // in the order of watch(), from 1
    Readiness* socket = nullptr;  // null for a plain descriptor
    int descriptor = -1;
    std::function<void()> on_readable;
    bool is_ready = false;  // it is in ready
    bool is_forgotten = false;
  };
  using SharedSource = std::shared_ptr<Source>;

  State() : poll_(::epoll_create1(EPOLL_CLOEXEC)) {
    check(poll_.is_open());
    listen(*wake_descriptor, wake_number);
  }

  void add(Readiness* socket, int descriptor, std::function<void()> on_readable) {
    auto source = std::make_shared<Source>();
    source->number = ++last_number_;
    source->socket = socket;
    source->descriptor = descriptor;
    source->on_readable = std::move(on_readable);
    listen(descriptor, source->number);
    sources_.push_back(std::move(source));
  }

  void forget(int descriptor) {
    std::erase_if(sources_, [&](const SharedSource& source) {
      if (source->descriptor != descriptor) return false;
      return source->is_forgotten = true;
    });
    ::epoll_ctl(poll_.value(), EPOLL_CTL_DEL, descriptor, nullptr);  // it may be closed already
  }

  int descriptor() const { return poll_.value(); }

  bool is_ready() {
    find_ready_sockets();
    return !ready_.empty();
  }

  void wait_until(std::optional<Instant> deadline) {
    for (bool is_over = false; !is_over;) {
      is_over = !wait(is_ready() ? 0 : os::poll_timeout_ms(deadline));
      is_over = is_over || is_woken_ || !ready_.empty() || (deadline && Clock::now() >= *deadline);
    }
    run_ready();
  }

  std::function<void()> on_wake;
  std::shared_ptr<const int> wake_descriptor = new_event_descriptor();

 private:
  static constexpr int events_per_wait = 64;
  static constexpr std::uint64_t wake_number = 0;

  void listen(int descriptor, std::uint64_t number) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = number;
    check(::epoll_ctl(poll_.value(), EPOLL_CTL_ADD, descriptor, &event) == 0);
  }

  void set_ready(const SharedSource& source) {
    if (!std::exchange(source->is_ready, true)) ready_.push_back(source);
  }

  /// Those that do not need their descriptor to be readable.
  void find_ready_sockets() {
    for (const SharedSource& source : sources_)
      if (source->socket && source->socket->may_be_readable() && source->socket->is_readable())
        set_ready(source);
  }

  /// False when a signal ended it.
  bool wait(int timeout_ms) {
    std::array<epoll_event, events_per_wait> events;
    const int count = ::epoll_wait(poll_.value(), events.data(), events_per_wait, timeout_ms);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
      if (number == wake_number)
        is_woken_ = true;
      else
        set_ready_if_readable(number);
    }
    return count >= 0;
  }

  void set_ready_if_readable(std::uint64_t number) {
    const auto found = std::lower_bound(
        sources_.begin(), sources_.end(), number,
        [](const SharedSource& source, std::uint64_t wanted) { return source->number < wanted; });
    if (found == sources_.end() || (*found)->number != number) return;
    const SharedSource& source = *found;
    if (!source->socket || source->socket->is_readable()) set_ready(source);
  }

  void take_wake_up() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(*wake_descriptor, &count, sizeof count);
    if (on_wake) on_wake();
  }

  void run_ready() {
    if (std::exchange(is_woken_, false)) take_wake_up();
    std::sort(ready_.begin(), ready_.end(),
              [](const SharedSource& a, const SharedSource& b) { return a->number < b->number; });
    for (const SharedSource& source : ready_) {
      source->is_ready = false;
      if (!source->is_forgotten) source->on_readable();
    }
    ready_.clear();
  }

  os::Descriptor poll_;
  std::vector<SharedSource> sources_;  // by their numbers
  std::vector<SharedSource> ready_;    // a handler may watch or forget, so found before they run
  std::uint64_t last_number_ = 0;
  bool is_woken_ = false;
};

Loop::Loop() : state_(std::make_unique<State>()) {}
Loop::~Loop() = default;
Loop::Loop(Loop&&) noexcept = default;
Loop& Loop::operator=(Loop&&) noexcept = default;

void Loop::watch(Socket& socket, std::function<void()> on_readable) {
  Readiness& readiness = socket.readiness();
  state_->add(&readiness, readiness.descriptor(), std::move(on_readable));
}

void Loop::watch(int descriptor, std::function<void()> on_readable) {
  state_->add(nullptr, descriptor, std::move(on_readable));
}

void Loop::on_wake(std::function<void()> handler) {
  state_->on_wake = std::move(handler);
}

void Loop::forget(const Socket& socket) {
  state_->forget(socket.readiness().descriptor());
}

void Loop::forget(int descriptor) {
  state_->forget(descriptor);
}

void Loop::wait_until(std::optional<Instant> deadline) {
  state_->wait_until(deadline);
}

Waker Loop::waker() const {
  return Waker{state_->wake_descriptor};
}

int Loop::descriptor() const {
  return state_->descriptor();
}

bool Loop::is_ready() {
  return state_->is_ready();
}

}  // namespace px::net
