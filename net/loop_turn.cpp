#include "net/loop_turn.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "wire/error.hpp"

namespace px::net {
namespace {

constexpr Duration at_once = std::chrono::nanoseconds(1);
constexpr Duration never = std::chrono::nanoseconds(0);  // to a timer

}  // namespace

LoopTurn::LoopTurn(Duration patience)
    : patience_(patience), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
  check(timer_.is_open());
}

bool LoopTurn::change(TurnHolder from, TurnHolder to) {
  return holder_.compare_exchange_strong(from, to);
}

void LoopTurn::ring_after(Duration time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  itimerspec when{};
  when.it_value.tv_sec = whole.count();
  when.it_value.tv_nsec = std::chrono::nanoseconds(time - whole).count();
  check(::timerfd_settime(timer_.value(), 0, &when, nullptr) == 0);
}

void LoopTurn::await() {
  while (holder_ == TurnHolder::guest || holder_ == TurnHolder::nobody) {
    std::uint64_t count = 0;
    check(::read(timer_.value(), &count, sizeof count) > 0 || errno == EINTR);
    change(TurnHolder::nobody, TurnHolder::io_thread);
  }
}

bool LoopTurn::pass() {
  return change(TurnHolder::asked_io_thread, TurnHolder::guest);
}

bool LoopTurn::take() {
  if (holder_ == TurnHolder::guest) return true;  // it was passed
  if (!change(TurnHolder::nobody, TurnHolder::guest)) return false;
  ring_after(never);
  return true;
}

void LoopTurn::leave(bool is_brief) {
  if (change(TurnHolder::asked_io_thread, TurnHolder::io_thread)) return;
  if (change(TurnHolder::guest, TurnHolder::nobody)) ring_after(is_brief ? patience_ : at_once);
}

}  // namespace px::net
