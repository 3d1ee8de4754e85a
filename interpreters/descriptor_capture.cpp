#include "interpreters/descriptor_capture.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio_ext.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace px::interpreters {
namespace {

/// What one drain() reads of a stream: at least what a pipe can hold.
constexpr std::size_t bytes_per_drain = 1 << 20;
constexpr int wanted_pipe_bytes = 1 << 20;
constexpr std::array crash_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
/// Text younger than this may not have left the process yet when it crashes.
constexpr time_t seconds_until_sent = 1;

void write_all(int descriptor, const char* bytes, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const ssize_t written = ::write(descriptor, bytes + done, count - done);
    if (written < 0 && errno != EINTR) return;  // nobody is left to be told
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

/// The end of what was passed on and may be lost when the process crashes.
struct RecentText {
  std::array<char, 4096> bytes;
  std::size_t size = 0;
  timespec when{};

  bool is_old() const {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec - when.tv_sec > seconds_until_sent;
  }
  void add(std::string_view text) {
    if (is_old()) size = 0;
    ::clock_gettime(CLOCK_MONOTONIC, &when);
    const std::size_t added = std::min(text.size(), bytes.size());
    const std::size_t kept = std::min(size, bytes.size() - added);
    std::memmove(bytes.data(), bytes.data() + size - kept, kept);
    text.substr(text.size() - added).copy(bytes.data() + kept, added);
    size = kept + added;
  }
};

/// What signal handlers, exit() and forked children have to know.
struct Process {
  std::atomic<bool> is_captured = false;
  std::array<int, 2> original{-1, -1};
  std::array<int, 2> reading{-1, -1};
  std::array<RecentText, 2> recent;
  std::array<struct sigaction, crash_signals.size()> earlier_actions;
};
Process process;

/// Async-signal-safe.
void empty_pipe(std::size_t i) {
  char bytes[4096];
  for (ssize_t count; (count = ::read(process.reading[i], bytes, sizeof bytes)) > 0;)
    write_all(process.original[i], bytes, static_cast<std::size_t>(count));
}

/// The process ends without release(). Async-signal-safe.
void rescue() {
  if (!process.is_captured.exchange(false)) return;
  for (std::size_t i = 0; i < 2; ++i) ::dup2(process.original[i], static_cast<int>(i) + 1);
  for (std::size_t i = 0; i < 2; ++i) {
    const RecentText& recent = process.recent[i];
    if (!recent.is_old()) write_all(process.original[i], recent.bytes.data(), recent.size);
    empty_pipe(i);
  }
}

void on_crash(int number, siginfo_t* info, void*) {
  const int interrupted_errno = errno;
  rescue();
  for (std::size_t i = 0; i < crash_signals.size(); ++i)
    if (crash_signals[i] == number) ::sigaction(number, &process.earlier_actions[i], nullptr);
  errno = interrupted_errno;
  if (info->si_code <= 0) ::raise(number);  // else the instruction is tried again
}

/// The child has the ends for writing alone: it must not take what its parent is to read, and a
/// parent that has ended must not look alive to who writes.
void in_forked_child() {
  if (!process.is_captured.exchange(false)) return;
  for (const int descriptor : process.reading) ::close(descriptor);
}

void watch_ends_of_process() {
  static const bool is_watched = [] {
    std::atexit(rescue);
    return ::pthread_atfork(nullptr, nullptr, in_forked_child) == 0;
  }();
  check(is_watched);
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < crash_signals.size(); ++i)
    ::sigaction(crash_signals[i], &action, &process.earlier_actions[i]);
}

/// Only where nobody else has set a handler since: it would be taken away.
void leave_crashes_alone() {
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    struct sigaction present{};
    ::sigaction(crash_signals[i], nullptr, &present);
    if ((present.sa_flags & SA_SIGINFO) && present.sa_sigaction == on_crash)
      ::sigaction(crash_signals[i], &process.earlier_actions[i], nullptr);
  }
}

Error failure(const std::string& call) {
  return Error{ErrorKind::system, "cannot capture the output of C code and child processes: " +
                                      call + ": " + std::strerror(errno)};
}

}  // namespace

DescriptorCapture::DescriptorCapture(Sink sink) : sink_(std::move(sink)) {}

DescriptorCapture::~DescriptorCapture() {
  release();
}

Result<void> DescriptorCapture::start() {
  const std::lock_guard lock{mutex_};
  check(!process.is_captured);
  std::fflush(stdout);  // what was printed before goes where it went before
  for (CapturedStream& stream : streams_) {
    if (auto done = divert(stream); !done) {
      for (const CapturedStream& each : streams_)
        if (each.original.is_open()) ::dup2(each.original.value(), each.number);
      return done;
    }
    const auto i = static_cast<std::size_t>(stream.number) - 1;
    process.original[i] = stream.original.value();
    process.reading[i] = stream.reading.value();
    process.recent[i].size = 0;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // it was made for what descriptor 1 led to before
  watch_ends_of_process();
  process.is_captured = true;
  has_started_ = true;
  return {};
}

Result<void> DescriptorCapture::divert(CapturedStream& stream) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure("pipe2");
  stream.reading = os::Descriptor(ends[0]);
  stream.writing = os::Descriptor(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  ::fcntl(ends[1], F_SETPIPE_SZ, wanted_pipe_bytes);  // a small one will do too
  stream.original = os::Descriptor(::fcntl(stream.number, F_DUPFD_CLOEXEC, 3));
  if (!stream.original.is_open()) return failure("dup");
  if (::dup2(ends[1], stream.number) < 0) return failure("dup2");
  return {};
}

void DescriptorCapture::release() {
  const std::lock_guard lock{mutex_};
  if (!has_started_ || !process.is_captured.exchange(false)) return;
  for (const CapturedStream& stream : streams_) ::dup2(stream.original.value(), stream.number);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::string begun = streams_[i].tail.rest();
    write_all(process.original[i], begun.data(), begun.size());
    empty_pipe(i);
  }
  leave_crashes_alone();
}

bool DescriptorCapture::is_active() const {
  return has_started_ && process.is_captured;
}

std::array<int, 2> DescriptorCapture::descriptors() const {
  return {streams_[0].reading.value(), streams_[1].reading.value()};
}

int DescriptorCapture::original_stderr() const {
  return streams_[1].original.is_open() ? streams_[1].original.value() : STDERR_FILENO;
}

void DescriptorCapture::flush() {
  if (!is_active()) return;
  if (::__fpending(stdout) > 0) std::fflush(stdout);
  drain();
}

void DescriptorCapture::drain() {
  const std::lock_guard lock{mutex_};
  if (!is_active()) return;
  std::array<pollfd, 2> sources{
      {{streams_[0].reading.value(), POLLIN, 0}, {streams_[1].reading.value(), POLLIN, 0}}};
  if (::poll(sources.data(), sources.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (sources[i].revents & POLLIN) read(streams_[i]);
}

void DescriptorCapture::read(CapturedStream& stream) {
  const auto i = static_cast<std::size_t>(stream.number) - 1;
  char bytes[1 << 16];
  for (std::size_t total = 0; total < bytes_per_drain;) {
    const ssize_t count = ::read(stream.reading.value(), bytes, sizeof bytes);
    if (count <= 0) return;
    total += static_cast<std::size_t>(count);
    const std::string text = stream.tail.whole({bytes, static_cast<std::size_t>(count)});
    if (text.empty()) continue;
    if (sink_(stream.name, text))
      write_all(stream.original.value(), text.data(), text.size());
    else
      process.recent[i].add(text);
  }
}

}  // namespace px::interpreters
