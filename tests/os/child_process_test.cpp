#include "os/child_process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/spawn.hpp"

namespace px::os {
namespace {

using namespace std::chrono_literals;

ChildProcess start(const std::vector<std::string>& argv) {
  auto spawned = spawn({.argv = argv, .own_session = true});
  check(spawned.has_value());
  return std::move(spawned->process);
}

/// One that says that it is ready, and the pipe at which it says so.
Spawned start_and_wait_for_word(const std::string& script) {
  SpawnOptions options{.argv = {"sh", "-c", script}, .own_session = true};
  options.output = OutputPipe{};
  auto spawned = spawn(options);
  check(spawned.has_value());
  char byte = 0;
  while (::read(spawned->output.value(), &byte, 1) == 1 && byte != '\n') {
  }
  return std::move(*spawned);
}

bool is_gone(pid_t pid) {
  return ::kill(pid, 0) == -1 && errno == ESRCH;  // a zombie is still there
}

TEST(ChildProcess, RunsUntilItEnds) {
  ChildProcess process = start({"sleep", "1000"});
  EXPECT_TRUE(process.is_running());
  EXPECT_FALSE(process.end());
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().signal, SIGTERM);
  EXPECT_FALSE(process.is_running());
  EXPECT_EQ(process.end()->signal, SIGTERM);
  EXPECT_TRUE(is_gone(process.pid()));
}

TEST(ChildProcess, IsWaitedForUntilADeadline) {
  ChildProcess process = start({"sleep", "1000"});
  EXPECT_FALSE(process.wait_until(Clock::now() + 5ms));
  process.signal(SIGKILL);
  const auto end = process.wait_until(Clock::now() + 30s);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGKILL);
}

TEST(ChildProcess, MakesItsDescriptorReadableWhenItEnds) {
  ChildProcess process = start({"sleep", "1000"});
  ASSERT_GE(process.end_descriptor(), 0);
  pollfd ended{process.end_descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 0), 0);
  process.signal(SIGKILL);
  EXPECT_EQ(::poll(&ended, 1, 30'000), 1);
  EXPECT_FALSE(process.is_running());
}

TEST(ChildProcess, IsKilledAndCollectedByItsDestructor) {
  pid_t pid = 0;
  {
    const ChildProcess process = start({"sleep", "1000"});
    pid = process.pid();
    EXPECT_FALSE(is_gone(pid));
  }
  EXPECT_TRUE(is_gone(pid));
}

TEST(ChildProcess, IsKilledWhenAnotherOneTakesItsPlace) {
  ChildProcess process = start({"sleep", "1000"});
  const pid_t first = process.pid();
  process = start({"sleep", "1000"});
  EXPECT_TRUE(is_gone(first));
  EXPECT_TRUE(process.is_running());
}

TEST(ChildProcess, MovesWithItsOwner) {
  ChildProcess first = start({"sleep", "1000"});
  const pid_t pid = first.pid();
  ChildProcess second = std::move(first);
  EXPECT_EQ(second.pid(), pid);
  EXPECT_TRUE(second.is_running());
  EXPECT_FALSE(first.is_running());
}

TEST(ChildProcess, PassesASignalToItsGroup) {
  Spawned spawned = start_and_wait_for_word("sleep 1000 & echo ready; wait");
  spawned.process.signal_group(SIGKILL);
  EXPECT_EQ(spawned.process.wait().signal, SIGKILL);
  char byte = 0;
  EXPECT_EQ(::read(spawned.output.value(), &byte, 1), 0);  // nobody holds the pipe any more
}

TEST(ChildProcess, ThatIsReleasedGoesOn) {
  pid_t pid = 0;
  {
    ChildProcess process = start({"sleep", "1000"});
    pid = process.pid();
    process.release();
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0);  // it runs
  ::kill(pid, SIGKILL);
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

}  // namespace
}  // namespace px::os
