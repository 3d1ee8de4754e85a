#include "net/turn_gate.hpp"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "wire/error.hpp"

namespace px::net {

TurnGate::TurnGate(Waker waker)
    : waker_(std::move(waker)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  check(timer_.is_open());
}

// ---------------------------------------------------------------- the keeper

void TurnGate::begin_turn() {
  std::unique_lock lock{mutex_};
  while (is_guest_time_ && !is_closed_) {
    lock.unlock();
    sleep();
    lock.lock();
    is_alarm_set_ = false;
    if (is_guest_in_ || is_guest_waiting_) continue;  // it sets the alarm when it leaves
    const Instant now = Clock::now();
    if (now >= left_at_ + patience)
      is_guest_time_ = false;
    else
      set_alarm(left_at_ + patience - now);
  }
  changed_.wait(lock, [this] { return !is_guest_in_; });
  is_keeper_in_ = true;
}

void TurnGate::end_turn() {
  const std::lock_guard lock{mutex_};
  is_keeper_in_ = false;
  if (is_guest_waiting_) changed_.notify_all();
}

void TurnGate::close() {
  std::unique_lock lock{mutex_};
  is_closed_ = true;
  set_alarm(Duration{1});
  waker_.wake();
  changed_.notify_all();
}

void TurnGate::sleep() {
  pollfd polled{timer_.value(), POLLIN, 0};
  ::poll(&polled, 1, -1);
  std::uint64_t expirations = 0;
  [[maybe_unused]] const auto got = ::read(timer_.value(), &expirations, sizeof expirations);
}

void TurnGate::set_alarm(Duration delay) {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t ns = std::max<std::int64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(delay).count(), 1);
  itimerspec at{};
  at.it_value.tv_sec = ns / second;
  at.it_value.tv_nsec = ns % second;
  check(::timerfd_settime(timer_.value(), 0, &at, nullptr) == 0);
  is_alarm_set_ = true;
}

// ---------------------------------------------------------------- guests

bool TurnGate::serve(const std::function<bool()>& is_over, const std::function<void()>& turn) {
  if (!enter()) return false;
  struct Leaving {
    TurnGate& gate;
    ~Leaving() { gate.leave(); }
  } const leaving{*this};
  while (!is_over() && !is_closed()) turn();
  return true;
}

bool TurnGate::enter() {
  std::unique_lock lock{mutex_};
  if (is_closed_ || is_guest_in_ || is_guest_waiting_) return false;
  is_guest_time_ = true;
  if (is_keeper_in_) {
    is_guest_waiting_ = true;
    waker_.wake();
    changed_.wait(lock, [this] { return !is_keeper_in_ || is_closed_; });
    is_guest_waiting_ = false;
    if (is_closed_) return false;
  }
  return is_guest_in_ = true;
}

void TurnGate::wake() {
  {
    const std::lock_guard lock{mutex_};
    if (is_guest_time_ && !is_guest_in_) return;
  }
  waker_.wake();
}

bool TurnGate::is_closed() {
  const std::lock_guard lock{mutex_};
  return is_closed_;
}

void TurnGate::leave() {
  const std::lock_guard lock{mutex_};
  is_guest_in_ = false;
  left_at_ = Clock::now();
  if (!is_alarm_set_) set_alarm(patience);
  if (is_closed_) changed_.notify_all();
}

}  // namespace px::net
