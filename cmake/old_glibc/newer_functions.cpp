// Functions of glibc newer than 2.28 that polyxeus and the static libraries call, made of older
// ones. They are linked into each program and module of a portable wheel: see docs/wheels.md.
// scripts/wheel_libraries.py compiles this file; scripts/bundle_libraries.py finds a function that
// is missing here.

#include <pthread.h>
#include <semaphore.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace {

constexpr std::int64_t second = 1'000'000'000;
// Clocks can be set while a thread waits by the time of day: it looks again at the caller's clock
// this often.
constexpr std::int64_t longest_wait = second;

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * second + time.tv_nsec;
}

timespec time_of(std::int64_t value) {
  return {.tv_sec = value / second, .tv_nsec = value % second};
}

std::int64_t now_by(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return nanoseconds(time);
}

/// The time of day at which to look at `clock` again, at the latest when it shows `deadline`, which
/// may be the smallest time that there is.
timespec next_look(clockid_t clock, const timespec* deadline) {
  const std::int64_t end = nanoseconds(*deadline), now = now_by(clock);
  // glibc knows without the kernel that a negative time has passed. The present time would let the
  // thread sleep for some 50 us: a client's call of 0.2 ms took a third longer.
  if (end <= now) return {.tv_sec = -1, .tv_nsec = 0};
  return time_of(now_by(CLOCK_REALTIME) + std::min(end - now, longest_wait));
}

bool has_passed(clockid_t clock, const timespec* deadline) {
  return now_by(clock) >= nanoseconds(*deadline);
}

}  // namespace

extern "C" {

/// 2.32; 0: there may be other threads, so counters are changed by atomic operations.
char __libc_single_threaded = 0;

/// 2.30
pid_t gettid() noexcept {
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

/// 2.30; a wait that ends before the deadline counts as a spurious wake-up, which each caller
/// expects.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* deadline) {
  const timespec look = next_look(clock, deadline);
  const int result = ::pthread_cond_timedwait(condition, mutex, &look);
  return result == ETIMEDOUT && !has_passed(clock, deadline) ? 0 : result;
}

/// 2.30
int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  for (;;) {
    const timespec look = next_look(clock, deadline);
    if (::sem_timedwait(semaphore, &look) == 0) return 0;
    if (errno != ETIMEDOUT || has_passed(clock, deadline)) return -1;
  }
}

/// 2.36
std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  while (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
  }
  return value;
}

/// 2.32
const char* sigabbrev_np(int signal) noexcept {
  switch (signal) {
    case SIGHUP:
      return "HUP";
    case SIGINT:
      return "INT";
    case SIGQUIT:
      return "QUIT";
    case SIGILL:
      return "ILL";
    case SIGTRAP:
      return "TRAP";
    case SIGABRT:
      return "ABRT";
    case SIGBUS:
      return "BUS";
    case SIGFPE:
      return "FPE";
    case SIGKILL:
      return "KILL";
    case SIGUSR1:
      return "USR1";
    case SIGSEGV:
      return "SEGV";
    case SIGUSR2:
      return "USR2";
    case SIGPIPE:
      return "PIPE";
    case SIGALRM:
      return "ALRM";
    case SIGTERM:
      return "TERM";
    case SIGSTKFLT:
      return "STKFLT";
    case SIGCHLD:
      return "CHLD";
    case SIGCONT:
      return "CONT";
    case SIGSTOP:
      return "STOP";
    case SIGTSTP:
      return "TSTP";
    case SIGTTIN:
      return "TTIN";
    case SIGTTOU:
      return "TTOU";
    case SIGURG:
      return "URG";
    case SIGXCPU:
      return "XCPU";
    case SIGXFSZ:
      return "XFSZ";
    case SIGVTALRM:
      return "VTALRM";
    case SIGPROF:
      return "PROF";
    case SIGWINCH:
      return "WINCH";
    case SIGPOLL:
      return "POLL";
    case SIGPWR:
      return "PWR";
    case SIGSYS:
      return "SYS";
    default:
      return nullptr;
  }
}

}  // extern "C"
