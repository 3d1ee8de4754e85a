#include "engine/rank_parent.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "engine/death_watch.hpp"
#include "os/host_name.hpp"
#include "os/oom_kills.hpp"
#include "os/process_end.hpp"
#include "os/spawn.hpp"
#include "wire/engine_end.hpp"
#include "wire/read_text.hpp"

namespace px::engine {
namespace {

sigset_t signals_to_read() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGCHLD);
  return set;
}

/// What becomes the engine: it goes with its parent, and can tell it who it is.
void become_child(pid_t parent, const sigset_t& signals_before, const os::Descriptor& pipe) {
  ::sigprocmask(SIG_SETMASK, &signals_before, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);               // it is gone already
  const int kept = ::fcntl(pipe.value(), F_DUPFD, 3);  // which an exec does not close
  const std::string watcher = std::to_string(parent) + ":" + std::to_string(kept);
  ::setenv(watcher_variable, watcher.c_str(), 1);
}

/// Waits for the engine's process and reads what it says of itself.
class RankParent {
 public:
  RankParent(pid_t child, os::Descriptor pipe)
      : child_(child), pipe_(std::move(pipe)), oom_kills_(os::count_oom_kills()) {
    for (const int number : {SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE})
      ::signal(number, SIG_IGN);
    ::fcntl(pipe_.value(), F_SETFL, O_NONBLOCK);
    const sigset_t wanted = signals_to_read();
    signals_ = os::Descriptor{::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC)};
  }

  os::ProcessEnd wait() {
    for (;;) {
      int status = 0;
      const pid_t ended = ::waitpid(child_, &status, WNOHANG);
      if (ended == child_ || (ended < 0 && errno != EINTR)) return os::end_of_wait(status);
      std::array<pollfd, 2> sources{{{signals_.value(), POLLIN, 0}, {pipe_.value(), POLLIN, 0}}};
      ::poll(sources.data(), pipe_.is_open() ? 2 : 1, -1);
      read_signals();
      listen();
    }
  }

  /// Tells the controller, where it knows the engine and was not told by the engine itself.
  void report(const os::ProcessEnd& end) {
    listen();
    if (heard_.find(dismissal) != std::string::npos) return;
    const Result<WatchedEngine> engine = read_watched_engine(heard_.substr(0, heard_.find('\n')));
    if (!engine) return;
    DeathReport report;
    report.uuid = engine->uuid;
    report.host = os::host_name();
    report.pid = child_;
    report.exit_code = end.exit_code;
    report.signal = end.signal;
    if (const auto kills = os::count_oom_kills(); kills && oom_kills_)
      report.is_out_of_memory = *kills > *oom_kills_;
    tell_controller(engine->info, "engine_ended", write_death_report(report));
  }

 private:
  void read_signals() {
    signalfd_siginfo info;
    while (::read(signals_.value(), &info, sizeof info) == sizeof info)
      if (info.ssi_signo == SIGTERM) ::kill(child_, SIGTERM);
  }

  void listen() {
    std::array<char, 4096> bytes;
    ssize_t count = 0;
    while (pipe_.is_open() && (count = ::read(pipe_.value(), bytes.data(), bytes.size())) > 0)
      heard_.append(bytes.data(), static_cast<std::size_t>(count));
    if (count == 0) pipe_.close();
  }

  const pid_t child_;
  os::Descriptor pipe_, signals_;
  const std::optional<long long> oom_kills_;  // so far
  std::string heard_;
};

/// Ends this process as the engine's has ended; its memory is not worth a core file.
int end_alike(const os::ProcessEnd& end) {
  if (end.signal == 0) return end.exit_code;
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(end.signal, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, end.signal);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(end.signal);
  return 128 + end.signal;
}

}  // namespace

std::optional<int> stay_as_parent() {
  Result<os::Pipe> pipe = os::make_pipe();
  if (!pipe) return std::nullopt;
  const sigset_t blocked = signals_to_read();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    become_child(parent, before, pipe->write_end);
    return std::nullopt;
  }
  if (child < 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return std::nullopt;
  }
  pipe->write_end.close();
  RankParent rank{child, std::move(pipe->read_end)};
  const os::ProcessEnd end = rank.wait();
  rank.report(end);
  return end_alike(end);
}

bool is_watched() {
  const char* const text = std::getenv(watcher_variable);
  return text && read_whole_number(std::string_view(text).substr(
                     0, std::string_view(text).find(':'))) == ::getppid();
}

Watcher take_watcher() {
  Watcher watcher{is_watched(), {}};
  const char* const variable = std::getenv(watcher_variable);
  const std::string text = variable ? variable : "";
  ::unsetenv(watcher_variable);
  const std::size_t colon = text.find(':');
  if (!watcher.is_there || colon == std::string::npos) return watcher;
  const int pipe = read_whole_number(std::string_view(text).substr(colon + 1)).value_or(-1);
  if (pipe > STDERR_FILENO && ::fcntl(pipe, F_SETFD, FD_CLOEXEC) == 0)
    watcher.pipe = os::Descriptor{pipe};
  return watcher;
}

}  // namespace px::engine
