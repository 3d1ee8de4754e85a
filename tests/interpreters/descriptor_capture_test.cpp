#include "interpreters/descriptor_capture.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

namespace px::interpreters {
namespace {

/// While a capture is active, GoogleTest's own messages would be captured too: act first, then
/// look.
void print(int descriptor, std::string_view text) {
  ASSERT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

/// Captures, and keeps what comes.
struct Captured {
  explicit Captured(bool is_for_log = false)
      : capture([this, is_for_log](std::string_view stream, std::string_view text) {
          all += std::string(stream) + ":" + std::string(text) + ";";
          return is_for_log;
        }) {
    EXPECT_TRUE(capture.start());
  }
  std::string all;
  DescriptorCapture capture;
};

/// What this process's standard error gets while `work` runs in a forked child, whose way to end
/// comes in `status`.
std::string said_by_child(const std::function<void()>& work, int& status) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 2);
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char bytes[4096];
  for (ssize_t count; (count = ::read(ends[0], bytes, sizeof bytes)) > 0;)
    said.append(bytes, static_cast<std::size_t>(count));
  ::close(ends[0]);
  ::waitpid(child, &status, 0);
  return said;
}

TEST(DescriptorCapture, GetsWhatChildProcessesAndCCodePrint) {
  Captured captured;
  const int exit_code = ::system("printf child");
  captured.capture.flush();
  print(2, "error");
  captured.capture.flush();
  std::printf("from C");  // stays in C's buffer without a newline
  captured.capture.flush();
  captured.capture.release();
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(captured.all, "stdout:child;stderr:error;stdout:from C;");
}

TEST(DescriptorCapture, HoldsTheBeginningOfACharacterBackUntilItIsWhole) {
  Captured captured;
  print(1, "a\xc3");
  captured.capture.drain();
  print(1, "\xa9");
  captured.capture.drain();
  captured.capture.release();
  EXPECT_EQ(captured.all, "stdout:a;stdout:\xc3\xa9;");
}

TEST(DescriptorCapture, CopiesToTheLogWhatTheSinkWantsToBeThere) {
  int status = -1;
  const std::string said = said_by_child(
      [] {
        Captured captured{true};
        print(2, "outside of a cell");
        captured.capture.drain();
        captured.capture.release();
        print(2, ", after it");
      },
      status);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(said, "outside of a cell, after it");
}

TEST(DescriptorCapture, ReadsNothingWhileItsReaderWaitsSoThatWritersWaitToo) {
  Captured captured;
  ::fcntl(1, F_SETFL, O_NONBLOCK);
  const std::string text(1 << 16, 'x');
  ssize_t written = 0;
  for (ssize_t count; (count = ::write(1, text.data(), text.size())) > 0;) written += count;
  captured.capture.drain();
  captured.capture.release();
  EXPECT_GE(written, 1 << 16);  // as much as a pipe holds, and no more
  EXPECT_EQ(captured.all.find_first_not_of("x", 7), captured.all.find(';'));
}

TEST(DescriptorCapture, AForkedChildWritesToItsParentAndItsEndChangesNothing) {
  Captured captured;
  const pid_t child = ::fork();
  if (child == 0) {
    print(1, "child");
    captured.capture.flush();    // takes nothing away from its parent
    captured.capture.release();  // and gives nothing back
    print(1, ", still");
    std::exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  captured.capture.flush();
  print(1, "parent");
  captured.capture.flush();
  captured.capture.release();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(captured.all, "stdout:child, still;stdout:parent;");
}

TEST(DescriptorCapture, AChildThatOutlivesTheParentsCaptureDoesNotKeepItsReaderAlive) {
  int reading = -1;
  int status = -1;
  said_by_child(
      [&] {
        Captured captured;
        reading = captured.capture.descriptors()[0];
        const pid_t child = ::fork();
        if (child == 0) ::_exit(::fcntl(reading, F_GETFD) < 0 ? 7 : 8);
        int way = 0;
        ::waitpid(child, &way, 0);
        captured.capture.release();
        ::_exit(WEXITSTATUS(way));
      },
      status);
  EXPECT_EQ(WEXITSTATUS(status), 7);  // its copy was closed
}

TEST(DescriptorCapture, WhatACrashLeavesInThePipesIsInTheLog) {
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE}) {
    int status = 0;
    const std::string said = said_by_child(
        [number] {
          ::signal(number, SIG_DFL);  // a sanitizer's handler ends the process otherwise
          Captured captured;
          print(2, "passed on, not sent; ");
          captured.capture.drain();
          print(2, "last words");
          ::raise(number);
        },
        status);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
    EXPECT_EQ(said, "passed on, not sent; last words");
  }
}

TEST(DescriptorCapture, WhatExitLeavesInThePipesIsInTheLog) {
  int status = 0;
  const std::string said = said_by_child(
      [] {
        Captured captured;
        print(2, "aborting");
        std::exit(3);
      },
      status);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(said, "aborting");
}

TEST(DescriptorCapture, CrashHandlersThatWereThereBeforeWriteToTheLog) {
  int status = 0;
  const std::string said = said_by_child(
      [] {
        struct sigaction action{};
        action.sa_handler = [](int) {
          print(2, "handler");
          ::_exit(4);
        };
        ::sigaction(SIGSEGV, &action, nullptr);
        Captured captured;
        ::raise(SIGSEGV);
      },
      status);
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_EQ(said, "handler");
}

TEST(DescriptorCapture, GivesAllBack) {
  struct sigaction before{}, after{};
  ::sigaction(SIGABRT, nullptr, &before);
  {
    Captured captured;
    captured.capture.release();
    EXPECT_FALSE(captured.capture.is_active());
    captured.capture.flush();  // does nothing any more
    EXPECT_EQ(captured.all, "");
  }
  ::sigaction(SIGABRT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(DescriptorCapture, LosesNothingOfAFlood) {
  std::string expected, found;
  for (int i = 0; i < 200'000; ++i) expected += std::to_string(i) + "\n";
  DescriptorCapture capture{[&](std::string_view, std::string_view text) {
    found += text;
    return false;
  }};
  const bool is_started = capture.start().has_value();
  std::thread writer{[] {
    for (int i = 0; i < 200'000; ++i) std::printf("%d\n", i);
  }};
  pollfd source{capture.descriptors()[0], POLLIN, 0};
  while (found.size() < expected.size() && ::poll(&source, 1, 60'000) > 0) capture.drain();
  writer.join();
  capture.release();
  EXPECT_TRUE(is_started);
  EXPECT_TRUE(found == expected);
}

}  // namespace
}  // namespace px::interpreters
