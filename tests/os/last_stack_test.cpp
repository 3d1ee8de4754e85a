#include "os/last_stack.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace px::os {
namespace {

/// What a forked process writes to its pipe before a signal ends it, and that signal.
struct Death {
  std::string said;
  int signal = 0;
};

Death death_of(void (*crash)()) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    write_last_stack(nullptr);
    tell_last_stack(pipe[1]);
    crash();
    ::_exit(0);
  }
  ::close(pipe[1]);
  Death death;
  std::array<char, 4096> bytes{};
  for (ssize_t count; (count = ::read(pipe[0], bytes.data(), bytes.size())) > 0;)
    death.said.append(bytes.data(), static_cast<std::size_t>(count));
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) death.signal = WTERMSIG(status);
  return death;
}

[[gnu::noinline]] void write_to_nowhere() {
  volatile int* volatile nowhere = reinterpret_cast<volatile int*>(0x18);
  *nowhere = 1;
}

TEST(LastStack, NamesTheSignalTheAddressAndTheModulesOfTheCalls) {
  const Death death = death_of(write_to_nowhere);
  EXPECT_EQ(death.signal, SIGSEGV);
  const std::string headline =
      last_stack_mark + std::string(last_stack_headline) + "SIGSEGV at address 0x18, ";
  EXPECT_TRUE(death.said.starts_with(headline)) << death.said;
  EXPECT_NE(death.said.find("px_os_tests+0x"), std::string::npos) << death.said;
}

TEST(LastStack, OfAnAbortHasTheCallsThatLedToIt) {
  const Death death = death_of([] { std::abort(); });
  EXPECT_EQ(death.signal, SIGABRT);
  EXPECT_NE(death.said.find("last calls before SIGABRT, "), std::string::npos) << death.said;
  EXPECT_NE(death.said.find("px_os_tests+0x"), std::string::npos) << death.said;
}

TEST(LastStack, HasTheReasonThatWasGiven) {
  const Death death = death_of([] {
    last_stack_reason = "the heap is damaged";
    std::abort();
  });
  EXPECT_NE(death.said.find("innermost first:\n  the heap is damaged\n  "), std::string::npos)
      << death.said;
}

TEST(LastStack, IsNotTheParentsWhereAForkedChildDies) {
  const Death death = death_of([] {
    const pid_t child = ::fork();
    if (child == 0) write_to_nowhere();
    ::waitpid(child, nullptr, 0);
  });
  EXPECT_EQ(death.said, "");
  EXPECT_EQ(death.signal, 0);
}

}  // namespace
}  // namespace px::os
