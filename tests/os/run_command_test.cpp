#include "os/run_command.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/descriptor.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

using namespace std::chrono_literals;

CommandOptions shell(const std::string& script) {
  return {.argv = {"sh", "-c", script}, .timeout = 60s};
}

TEST(RunCommand, ReturnsOutputErrorsAndExitCode) {
  const auto done = run_command(shell("echo out; echo first >&2; echo last >&2; exit 3"));
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->errors, "first\nlast");
  EXPECT_EQ(done->end.exit_code, 3);
  EXPECT_FALSE(done->was_cut);
}

TEST(RunCommand, PassesATextToItsInput) {
  CommandOptions options{.argv = {"cat"}, .timeout = 60s};
  options.input = std::string(300'000, 'x') + "end";
  const auto done = run_command(options);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, options.input);
}

TEST(RunCommand, MergesErrorsWhereAsked) {
  CommandOptions options = shell("echo a; echo b >&2; echo c");
  options.merges_errors = true;
  const auto done = run_command(options);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, "a\nb\nc\n");
  EXPECT_EQ(done->errors, "");
}

TEST(RunCommand, OutlivesSigtermWhereAsked) {
  CommandOptions options = shell("kill -TERM $$; echo lives");
  EXPECT_EQ(run_command(options)->output, "");
  options.ignores_sigterm = true;
  EXPECT_EQ(run_command(options)->output, "lives\n");
}

TEST(RunCommand, AddsToTheEnvironment) {
  CommandOptions options = shell("echo $PX_TEST_ADDED");
  options.environment = {{"PX_TEST_ADDED", "added"}};
  EXPECT_EQ(run_command(options)->output, "added\n");
}

TEST(RunCommand, KeepsTheBeginningOfTheOutputAndTheEndOfTheErrors) {
  CommandOptions options = shell(
      "head -c 500000 /dev/zero | tr '\\0' a; head -c 50000 /dev/zero | tr '\\0' b >&2; "
      "echo the end >&2");
  options.max_output = 1000;
  const auto done = run_command(options);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, std::string(1000, 'a'));
  EXPECT_TRUE(done->was_cut);
  EXPECT_LE(done->errors.size(), 2000u);
  EXPECT_TRUE(done->errors.ends_with("bthe end"));
  EXPECT_EQ(done->end.exit_code, 0);
}

TEST(RunCommand, ThatTakesTooLongIsKilledWithItsChildren) {
  const TemporaryFolder folder;
  const std::string fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const Descriptor reader{::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  ASSERT_TRUE(reader.is_open());
  // The shell and its child hold the pipe open for writing.
  CommandOptions options = shell("exec 3> " + fifo + "; sleep 1000 & sleep 1000; wait");
  options.timeout = 1500ms;
  const auto done = run_command(options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::lost_peer);
  EXPECT_EQ(done.error().what, "sh timed out after 1.5 s");
  pollfd closed{reader.value(), POLLIN, 0};
  EXPECT_EQ(::poll(&closed, 1, 30'000), 1);
  EXPECT_TRUE(closed.revents & POLLHUP);  // nobody holds the pipe any more
}

TEST(RunCommand, DoesNotWaitForWhatRunsInTheBackground) {
  const auto done = run_command(shell("sleep 1000 & echo $!"));
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(::kill(std::stoi(done->output), SIGKILL), 0);  // it runs still
}

TEST(RunCommand, NamesAProgramThatIsMissing) {
  const auto done = run_command({.argv = {"/no/such/program"}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::not_found);
  EXPECT_EQ(done.error().what, "cannot run /no/such/program: No such file or directory");
}

TEST(RunCommand, LeavesNoZombie) {
  ASSERT_TRUE(run_command({.argv = {"true"}}));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace px::os
