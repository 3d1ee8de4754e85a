#include "os/child_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "os/poll_timeout.hpp"
#include "os/processes.hpp"
#include "os/retried.hpp"
#include "wire/error.hpp"

namespace px::os {
ChildProcess::ChildProcess(pid_t pid) : pid_(pid), handle_(open_pidfd(pid)) {}

ChildProcess::~ChildProcess() {
  destroy();
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      handle_(std::move(other.handle_)),
      end_(other.end_),
      is_released_(other.is_released_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  destroy();
  pid_ = std::exchange(other.pid_, -1);
  handle_ = std::move(other.handle_);
  end_ = other.end_;
  is_released_ = other.is_released_;
  return *this;
}

void ChildProcess::destroy() {
  if (!is_owned() || end()) return;
  signal(SIGKILL);
  wait();
}

bool ChildProcess::has_ended() const {
  if (end_ || !is_owned()) return end_.has_value();
  siginfo_t found{};
  const int failed = retried([&] {
    return ::waitid(P_PID, static_cast<id_t>(pid_), &found, WEXITED | WNOHANG | WNOWAIT);
  });
  return failed != 0 || found.si_pid == pid_;
}

std::optional<ProcessEnd> ChildProcess::end() {
  if (end_ || !is_owned()) return end_;
  int status = 0;
  const pid_t found = retried([&] { return ::waitpid(pid_, &status, WNOHANG); });
  if (found == pid_) end_ = end_of_wait(status);
  if (found < 0) end_ = ProcessEnd{};  // somebody else waited for it, or SIGCHLD is ignored
  return end_;
}

std::optional<ProcessEnd> ChildProcess::wait_until(Instant deadline) {
  while (!end() && Clock::now() < deadline) {
    pollfd ended{handle_.value(), POLLIN, 0};
    const Instant next =
        handle_.is_open() ? deadline : std::min(deadline, Clock::now() + interval_without_pidfd);
    ::poll(&ended, 1, poll_timeout_ms(next));
  }
  return end();
}

ProcessEnd ChildProcess::wait() {
  check(is_owned());
  if (end_) return *end_;
  int status = 0;
  const pid_t found = retried([&] { return ::waitpid(pid_, &status, 0); });
  end_ = found == pid_ ? end_of_wait(status) : ProcessEnd{};
  return *end_;
}

void ChildProcess::signal(int number) {
  if (is_owned() && !end()) ::kill(pid_, number);
}

void ChildProcess::signal_group(int number) {
  if (is_owned() && !end()) ::kill(-pid_, number);
}

void ChildProcess::release() {
  is_released_ = true;
  handle_.close();
}

}  // namespace px::os
