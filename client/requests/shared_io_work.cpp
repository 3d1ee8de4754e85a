#include "client/requests/shared_io_work.hpp"

#include <poll.h>
#include <sched.h>

#include <utility>

#include "os/poll_timeout.hpp"
#include "os/signals_blocked.hpp"

namespace px::client {
namespace {

/// Between two calls that follow each other at once a thread needs less.
constexpr Duration patience = std::chrono::microseconds(300);

bool has_passed(std::optional<Instant> deadline) {
  return deadline && Clock::now() >= *deadline;
}

}  // namespace

SharedIoWork::SharedIoWork(net::Loop& loop, Steps steps)
    : loop_(loop), waker_(loop.waker()), steps_(std::move(steps)), turn_(patience) {}

SharedIoWork::WaitingThread::WaitingThread(std::shared_ptr<SharedIoWork> help)
    : help_(std::move(help)) {
  if (help_) ++help_->waiting_;
}

SharedIoWork::WaitingThread::~WaitingThread() {
  if (help_) --help_->waiting_;
}

bool SharedIoWork::await() {
  turn_.await();
  return !is_ending_;
}

void SharedIoWork::pass() {
  if (!turn_.pass()) return;
  const std::lock_guard lock{mutex_};  // it may be about to wait
  changed_.notify_all();
}

void SharedIoWork::end() {
  {
    const std::lock_guard lock{mutex_};
    is_ending_ = true;
  }
  changed_.notify_all();
  waker_.wake();
}

bool SharedIoWork::help_until(std::optional<Instant> deadline,
                              const std::function<bool()>& is_met) {
  if (is_helping() || has_passed(deadline)) return false;
  const std::unique_lock guest{guest_, std::try_to_lock};
  if (!guest) return false;
  const bool done = get_turn(deadline) && work_until(deadline, is_met);
  turn_.leave(waiting_ == 1 && !is_ending_);
  return done;
}

bool SharedIoWork::get_turn(std::optional<Instant> deadline) {
  std::unique_lock lock{mutex_};
  if (turn_.take()) return true;
  turn_.ask();
  waker_.wake();
  const auto is_over = [this] { return is_ending_ || turn_.take(); };
  if (deadline)
    changed_.wait_until(lock, *deadline, is_over);
  else
    changed_.wait(lock, is_over);
  return turn_.take();
}

bool SharedIoWork::work_until(std::optional<Instant> deadline,
                              const std::function<bool()>& is_met) {
  const Instant begin = Clock::now();
  bool done = false;
  while (!is_ending_) {
    step();
    done = is_met();
    if (done || has_passed(deadline)) break;
    const bool stays_awake = short_waits_.stays_awake() && steps_.awaits_one();
    sleep_until(loop_.is_ready() ? net::Loop::at_once : earlier(deadline, steps_.next_deadline()),
                stays_awake ? begin + ShortWaits::longest : begin);
  }
  short_waits_.waited(Clock::now() - begin);
  return done;
}

/// A handler that throws ends the process, as it does in the I/O thread.
void SharedIoWork::step() noexcept {
  const os::SignalsBlocked blocked;
  helper_ = std::this_thread::get_id();
  steps_.step();
  helper_ = std::thread::id{};
}

/// Or until the loop has something to do.
void SharedIoWork::sleep_until(std::optional<Instant> deadline, Instant awake_until) const {
  pollfd source{loop_.descriptor(), POLLIN, 0};
  while (!has_passed(awake_until) && !has_passed(deadline)) {
    if (::poll(&source, 1, 0) != 0) return;
    ::sched_yield();
  }
  ::poll(&source, 1, os::poll_timeout_ms(deadline));
}

}  // namespace px::client
