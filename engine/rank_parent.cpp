#include "engine/rank_parent.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/controller_link.hpp"
#include "engine/death_watch.hpp"
#include "engine/mpi/rank_segment.hpp"
#include "engine/mpi/slurm_job.hpp"
#include "engine/mpi/world_wait.hpp"
#include "net/loop.hpp"
#include "os/host.hpp"
#include "os/last_stack.hpp"
#include "os/memory_group.hpp"
#include "os/process_end.hpp"
#include "os/processes.hpp"
#include "os/spawn.hpp"
#include "wire/engine_end.hpp"

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
  RankParent(pid_t child, os::Descriptor pipe, const World& world, bool outlasts_world)
      : child_(child),
        pipe_(std::move(pipe)),
        world_(world),
        outlasts_world_(outlasts_world),
        oom_kills_(os::count_oom_kills()) {
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
      if (ended == child_ || (ended < 0 && errno != EINTR)) {
        has_ended_ = true;
        return os::end_of_wait(status);
      }
      std::array<pollfd, 2> sources{{{signals_.value(), POLLIN, 0}, {pipe_.value(), POLLIN, 0}}};
      ::poll(sources.data(), pipe_.is_open() ? 2 : 1, -1);
      read_signals();
      listen();
      if (is_terminated_ && !std::exchange(has_told_cause_, true)) tell_cause();
      if (!has_heard(readiness)) continue;
      if (is_unshared_) share_connection();
      if (segment_.empty()) segment_ = rank_segment_of(child_);
    }
  }

  /// Removes what a rank leaves behind that could not end MPI.
  void clean_up() const {
    if (!segment_.empty()) ::unlink(segment_.c_str());
  }

  /// Tells the controller, where it knows the engine and was not told by the engine itself, and
  /// stays where the other ranks are to live.
  void bury(const os::ProcessEnd& end) {
    read_signals();
    listen();
    const Result<WatchedEngine> engine = read_watched_engine(heard_.substr(0, heard_.find('\n')));
    if (!engine || (has_heard(dismissal) && !stays(*engine))) return;
    auto controller = ControllerLink::dial(engine->info);
    if (!controller) return;
    if (!has_heard(dismissal))
      controller->send("engine_ended", write_death_report(report(*engine, end)));
    if (stays(*engine)) outlast(*engine, *controller);
  }

 private:
  DeathReport report(const WatchedEngine& engine, const os::ProcessEnd& end) const {
    DeathReport report;
    report.uuid = engine.uuid;
    report.host = os::host_name();
    report.pid = child_;
    report.exit_code = end.exit_code;
    report.signal = end.signal;
    if (const auto kills = os::count_oom_kills(); kills && oom_kills_)
      report.is_out_of_memory = *kills > *oom_kills_;
    report.is_hidden = stays(engine);
    report.last_lines = last_stack();
    return report;
  }

  /// Now that MPI is initialized: the death of the rank does not end the connection then.
  void share_connection() {
    is_unshared_ = false;
    pmix_ = os::share_connections(child_, world_.pmix_port);
    if (!pmix_.empty()) return;
    outlasts_world_ = false;
    if (world_.rank.value == 0)
      std::cerr << "pxengine: when an MPI rank dies, srun will end the others: the connection to "
                   "its PMIx server cannot be shared here. To keep them alive, start the engines "
                   "with mpiexec, or with srun --mpi=pmi2 and MPICH"
                << std::endl;
  }

  /// What the engine said when it crashed; they are lines of its log, too.
  std::string last_stack() const {
    const std::size_t mark = heard_.find(os::last_stack_mark);
    if (mark == std::string::npos) return "";
    return heard_.substr(mark + 1, heard_.find_last_not_of('\n') - mark);
  }

  bool has_heard(std::string_view what) const {
    return heard_.substr(0, heard_.find(os::last_stack_mark)).find(what) != std::string::npos;
  }

  /// Not where all ranks left together, and MPI with them.
  bool stays(const WatchedEngine& engine) const {
    const bool was_left = has_heard(dismissal) && !has_heard(breakage) && !has_heard(termination);
    return outlasts_world_ && !is_unshared_ && !is_terminated_ && !was_left &&
           !engine.world.empty() && has_heard(readiness);
  }

  /// Until no other rank is left, the launcher is gone or SIGTERM comes.
  void outlast(const WatchedEngine& engine, ControllerLink& controller) {
    WorldWait others{Clock::now()};
    net::Loop loop;
    loop.watch(signals_.value(), [this] { read_signals(); });
    loop.watch(controller.socket(), [&] {
      while (const auto answer = controller.receive())
        if (const auto living = int_member(*answer, "living"))
          others.heard(static_cast<int>(std::min(*living, 1LL)), Clock::now());
    });
    while (!is_terminated_ && ::getppid() == launcher_ && !others.is_over(Clock::now())) {
      if (others.asks(Clock::now())) controller.ask_living(engine.world);
      loop.wait_until(others.next_deadline());
    }
    loop.forget(controller.socket());
  }

  /// Tells the controller why the batch system ends all ranks; one of them asks for all.
  void tell_cause() {
    if (world_.rank.value != 0) return;
    const Result<WatchedEngine> engine = read_watched_engine(heard_.substr(0, heard_.find('\n')));
    if (!engine) return;
    DeathReport report;
    report.uuid = engine->uuid;
    report.cause = why_slurm_ends_this_job().value_or("");
    if (report.cause.empty()) return;
    if (auto controller = ControllerLink::dial(engine->info))
      controller->send("engine_ended", write_death_report(report));
  }

  void read_signals() {
    signalfd_siginfo info;
    while (::read(signals_.value(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGTERM) continue;
      is_terminated_ = true;
      if (!has_ended_) ::kill(child_, SIGTERM);
    }
  }

  void listen() {
    std::array<char, 4096> bytes;
    ssize_t count = 0;
    while (pipe_.is_open() && (count = ::read(pipe_.value(), bytes.data(), bytes.size())) > 0)
      heard_.append(bytes.data(), static_cast<std::size_t>(count));
    if (count == 0) pipe_.close();
  }

  const pid_t child_, launcher_ = ::getppid();
  os::Descriptor pipe_, signals_;
  const World world_;
  bool outlasts_world_;
  bool is_unshared_ = outlasts_world_ && world_.size > 1 && world_.pmix_port > 0;
  std::vector<os::Descriptor> pmix_;  // held until the end
  bool has_ended_ = false;            // the child
  bool is_terminated_ = false;        // the launcher ends all ranks, or somebody this one
  bool has_told_cause_ = false;
  const std::optional<long long> oom_kills_;  // so far
  std::string heard_;
  std::string segment_;  // in /dev/shm
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

std::optional<int> stay_as_parent(const World& world, bool outlasts_world) {
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
  RankParent rank{child, std::move(pipe->read_end), world, outlasts_world};
  const os::ProcessEnd end = rank.wait();
  rank.clean_up();
  rank.bury(end);
  return end_alike(end);
}

}  // namespace px::engine
