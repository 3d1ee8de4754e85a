#include "os/spawn.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <thread>

#include "os/private_file.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

using namespace std::chrono_literals;

SpawnOptions shell(const std::string& script) {
  return {.argv = {"sh", "-c", script}};
}

/// The exit code of a program that must start.
int exit_code_of(const SpawnOptions& options) {
  auto spawned = spawn(options);
  EXPECT_TRUE(spawned) << spawned.error().what;
  return spawned ? spawned->process.wait().exit_code : -1;
}

std::string read_all(const Descriptor& pipe) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t count; (count = ::read(pipe.value(), buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  return text;
}

/// What a program writes to its standard output.
std::string output_of(SpawnOptions options) {
  options.output = OutputPipe{};
  auto spawned = spawn(options);
  EXPECT_TRUE(spawned) << spawned.error().what;
  return spawned ? read_all(spawned->output) : "";
}

TEST(Spawn, RunsAProgramAndTellsItsExitCode) {
  EXPECT_EQ(exit_code_of(shell("exit 7")), 7);
  EXPECT_EQ(exit_code_of({.argv = {"/bin/sh", "-c", "exit 0"}}), 0);
}

TEST(Spawn, TellsTheSignalThatEndedAProgram) {
  auto spawned = spawn(shell("kill -TERM $$"));
  ASSERT_TRUE(spawned);
  EXPECT_EQ(spawned->process.wait().signal, SIGTERM);
}

TEST(Spawn, OfAMissingProgramNamesItAndTheCause) {
  for (const std::string name : {"/no/such/program", "no-such-program"}) {
    const auto spawned = spawn({.argv = {name}});
    ASSERT_FALSE(spawned);
    EXPECT_EQ(spawned.error().kind, ErrorKind::not_found);
    EXPECT_EQ(spawned.error().what, "cannot run " + name + ": No such file or directory");
  }
}

TEST(Spawn, OfAFileThatIsNoProgramNamesItAndTheCause) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "text";
  std::ofstream(file) << "text";
  const auto spawned = spawn({.argv = {file}});
  ASSERT_FALSE(spawned);
  EXPECT_EQ(spawned.error().kind, ErrorKind::system);
  EXPECT_EQ(spawned.error().what, "cannot run " + file + ": Permission denied");
}

TEST(Spawn, ThatFailsLeavesNoZombie) {
  ASSERT_FALSE(spawn({.argv = {"/no/such/program"}}));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Spawn, RunsAScriptWithoutAFirstLine) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "script";
  std::ofstream(file) << "exit 5\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  EXPECT_EQ(exit_code_of({.argv = {file}}), 5);
}

TEST(Spawn, GivesATextOfAnyLengthAsInput) {
  SpawnOptions options{.argv = {"wc", "-c"}};
  options.input = InputText{std::string(1'000'000, 'x')};
  EXPECT_EQ(std::stoi(output_of(options)), 1'000'000);
}

TEST(Spawn, GivesNoInputByDefault) {
  EXPECT_EQ(output_of({.argv = {"cat"}}), "");
}

TEST(Spawn, GivesADescriptorAsInput) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  SpawnOptions options{.argv = {"cat"}};
  options.input = pipe->read_end.value();
  options.output = OutputPipe{};
  auto spawned = spawn(options);
  ASSERT_TRUE(spawned);
  ASSERT_EQ(::write(pipe->write_end.value(), "word", 4), 4);
  pipe->write_end.close();
  EXPECT_EQ(read_all(spawned->output), "word");
}

TEST(Spawn, SeparatesOutputAndErrors) {
  SpawnOptions options = shell("echo out; echo err >&2");
  options.output = OutputPipe{};
  options.errors = OutputPipe{};
  auto spawned = spawn(options);
  ASSERT_TRUE(spawned);
  EXPECT_EQ(read_all(spawned->output), "out\n");
  EXPECT_EQ(read_all(spawned->errors), "err\n");
}

TEST(Spawn, MergesErrorsIntoTheOutputInTheOrderOfWriting) {
  SpawnOptions options = shell("echo a; echo b >&2; echo c");
  options.errors = SameAsOutput{};
  EXPECT_EQ(output_of(options), "a\nb\nc\n");
}

TEST(Spawn, AppendsToAFileOrBeginsItAnew) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "log";
  SpawnOptions options = shell("echo one; echo two >&2");
  options.output = OutputFile{file};
  options.errors = SameAsOutput{};
  EXPECT_EQ(exit_code_of(options), 0);
  EXPECT_EQ(exit_code_of(options), 0);
  EXPECT_EQ(*read_file(file), "one\ntwo\none\ntwo\n");
  options.output = OutputFile{.path = file, .appends = false};
  EXPECT_EQ(exit_code_of(options), 0);
  EXPECT_EQ(*read_file(file), "one\ntwo\n");
}

TEST(Spawn, NamesAnOutputFileThatCannotBeOpened) {
  SpawnOptions options = shell("exit 0");
  options.output = OutputFile{"/no/such/folder/log"};
  const auto spawned = spawn(options);
  ASSERT_FALSE(spawned);
  EXPECT_EQ(spawned.error().what, "cannot open /no/such/folder/log: No such file or directory");
}

TEST(Spawn, AddsToTheEnvironmentAndReplacesVariables) {
  const ScopedVariable kept("PX_TEST_KEPT", "kept");
  const ScopedVariable replaced("PX_TEST_REPLACED", "old");
  SpawnOptions options = shell("echo $PX_TEST_KEPT $PX_TEST_REPLACED $PX_TEST_ADDED");
  options.environment = {{"PX_TEST_REPLACED", "new"}, {"PX_TEST_ADDED", "added"}};
  EXPECT_EQ(output_of(options), "kept new added\n");
  EXPECT_STREQ(::getenv("PX_TEST_REPLACED"), "old");
}

/// The fields of /proc/self/stat behind the program's name: [0] state, [3] session.
std::vector<std::string> stat_fields(const std::string& line) {
  std::istringstream words(line.substr(line.rfind(')') + 1));
  return {std::istream_iterator<std::string>(words), {}};
}

TEST(Spawn, StartsASessionOnlyWhereAsked) {
  SpawnOptions options{.argv = {"cat", "/proc/self/stat"}};
  EXPECT_EQ(stat_fields(output_of(options)).at(3), std::to_string(::getsid(0)));
  options.own_session = true;
  const std::string line = output_of(options);
  EXPECT_EQ(stat_fields(line).at(3), line.substr(0, line.find(' ')));
}

TEST(Spawn, PassesNoOtherDescriptorOn) {
  constexpr int number = 100;
  const Descriptor open_file{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  ASSERT_EQ(::dup2(open_file.value(), number), number);  // without close-on-exec
  const Descriptor open_number{number};
  SpawnOptions options = shell("[ -e /proc/self/fd/100 ]");
  EXPECT_EQ(exit_code_of(options), 1);
  options.inherited_descriptors = {number};
  EXPECT_EQ(exit_code_of(options), 0);
}

/// The value of a line of /proc/self/status.
std::string status_of(const std::string& status, const std::string& name) {
  std::istringstream words(status.substr(status.find(name + ":") + name.size() + 1));
  std::string value;
  words >> value;
  return value;
}

TEST(Spawn, GivesTheChildNoBlockedOrIgnoredSignal) {
  sigset_t term, before;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, &before);
  const auto old_handler = ::signal(SIGUSR1, SIG_IGN);
  const std::string status = output_of({.argv = {"cat", "/proc/self/status"}});
  EXPECT_EQ(status_of(status, "SigBlk"), "0000000000000000");
  EXPECT_EQ(status_of(status, "SigIgn"), "0000000000000000");
  ::signal(SIGUSR1, old_handler);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Spawn, LetsTheChildIgnoreSigtermWhereAsked) {
  const std::string status =
      output_of({.argv = {"cat", "/proc/self/status"}, .ignores_sigterm = true});
  EXPECT_EQ(status_of(status, "SigBlk"), "0000000000000000");
  EXPECT_EQ(std::stoull(status_of(status, "SigIgn"), nullptr, 16), 1u << (SIGTERM - 1));
}

TEST(Spawn, LeavesTheSignalsOfThisProcessAsTheyWere) {
  struct sigaction action{}, found{};
  action.sa_handler = [](int) {};
  struct sigaction before{};
  ::sigaction(SIGUSR1, &action, &before);
  EXPECT_EQ(exit_code_of(shell("exit 0")), 0);
  ::sigaction(SIGUSR1, nullptr, &found);
  EXPECT_EQ(found.sa_handler, action.sa_handler);
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(::sigismember(&mask, SIGTERM), 0);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(Spawn, SendsTheDeathSignalWhenTheThreadEnds) {
  SpawnOptions options{.argv = {"sleep", "1000"}};
  options.death_signal = SIGTERM;
  std::optional<Result<Spawned>> spawned;
  std::thread([&] { spawned.emplace(spawn(options)); }).join();
  ASSERT_TRUE(*spawned);
  EXPECT_EQ((*spawned)->process.wait().signal, SIGTERM);
}

TEST(Spawn, IsCalledFromSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::array<int, 4> successes{};
  for (int& count : successes)
    threads.emplace_back([&count] {
      for (int i = 0; i < 10; ++i) {
        auto spawned = spawn({.argv = {"true"}});
        count += spawned && !spawned->process.wait().is_failure();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : successes) EXPECT_EQ(count, 10);
}

TEST(FindProgram, LooksIntoThePath) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "px-test-program";
  std::ofstream(file) << "#!/bin/sh\n";
  const ScopedVariable path("PATH", (folder.path().string() + ":/usr/bin:/bin").c_str());
  EXPECT_EQ(find_program("px-test-program"), "");  // it may not be run
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  EXPECT_EQ(find_program("px-test-program"), file);
  EXPECT_EQ(find_program(file), file);
  EXPECT_EQ(find_program("/no/such/program"), "");
}

}  // namespace
}  // namespace px::os
