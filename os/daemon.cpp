#include "os/daemon.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <utility>

#include "os/retried.hpp"
#include "wire/error.hpp"

namespace px::os {
namespace {

volatile sig_atomic_t child_to_stop = 0;

void pass_on(int number) {
  ::kill(child_to_stop, number);
}

int wait_for_word(int report, pid_t child) {
  child_to_stop = child;
  struct sigaction action{};
  action.sa_handler = pass_on;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  char word = 0;
  if (retried([&] { return ::read(report, &word, 1); }) == 1) return 0;
  int status = 0;
  retried([&] { return ::waitpid(child, &status, 0); });
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

std::optional<int> Daemon::fork() {
  int report[2];
  check(::pipe2(report, O_CLOEXEC) == 0);
  std::cout.flush();
  const pid_t child = ::fork();
  check(child >= 0);
  if (child > 0) {
    ::close(report[1]);
    return wait_for_word(report[0], child);
  }
  ::close(report[0]);
  report_ = report[1];
  ::setsid();
  return std::nullopt;
}

void Daemon::ready() {
  if (report_ < 0) return;
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
  ::close(nothing);
  [[maybe_unused]] const auto written = ::write(report_, "", 1);
  ::close(std::exchange(report_, -1));
}

}  // namespace px::os
