#include "net/watched_child.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <optional>

namespace px::net {
namespace {

using namespace std::chrono_literals;

/// Notes what a child says, until it ends.
class WatchedChildTest : public testing::Test {
 protected:
  Result<WatchedChild> start(const std::string& script, const std::string& input = "") {
    return WatchedChild::start(
        {"sh", "-c", script}, input, loop_,
        {.on_line = [this](std::string_view line) { lines_.emplace_back(line); },
         .on_errors = [this](std::string_view text) { errors_ += text; },
         .on_end =
             [this](os::ProcessEnd end, const std::string& last_errors) {
               end_ = end;
               last_errors_ = last_errors;
             }});
  }
  void wait_for_end() {
    const Instant deadline = Clock::now() + 30s;
    while (!end_ && Clock::now() < deadline) loop_.wait_until(deadline);
  }

  Loop loop_;
  std::vector<std::string> lines_;
  std::string errors_, last_errors_;
  std::optional<os::ProcessEnd> end_;
};

TEST_F(WatchedChildTest, GivesLinesErrorsAndItsEnd) {
  const auto child = start("cat; printf last; printf 'err\\r\\n\\n' >&2; exit 4", "one\n\ntwo\n");
  ASSERT_TRUE(child);
  wait_for_end();
  ASSERT_TRUE(end_);
  EXPECT_EQ(end_->exit_code, 4);
  EXPECT_EQ(lines_, (std::vector<std::string>{"one", "", "two", "last"}));
  EXPECT_EQ(errors_, "err\r\n\n");
  EXPECT_EQ(last_errors_, "err");
}

TEST_F(WatchedChildTest, NamesAProgramThatIsMissing) {
  const auto child = WatchedChild::start({"/no/such/program"}, "", loop_, {});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().what, "cannot run /no/such/program: No such file or directory");
}

TEST_F(WatchedChildTest, ThatClosedItsStreamsDoesNotBlockTheLoop) {
  auto child = std::optional(start("echo $$; exec sleep 1000 >&- 2>&-"));
  ASSERT_TRUE(*child);
  const Instant deadline = Clock::now() + 30s;
  while (lines_.empty() && Clock::now() < deadline) loop_.wait_until(deadline);
  ASSERT_EQ(lines_.size(), 1u);
  const pid_t pid = std::stoi(lines_.front());
  loop_.wait_until(Clock::now() + 1ms);
  loop_.wait_until(Clock::now() + 1ms);
  EXPECT_FALSE(end_);
  ::kill(pid, SIGKILL);
  wait_for_end();
  ASSERT_TRUE(end_);
  EXPECT_EQ(end_->signal, SIGKILL);
}

TEST_F(WatchedChildTest, MayBeDestroyedByItsOwnHandler) {
  std::optional<WatchedChild> child;
  std::vector<std::string> lines;
  auto started = WatchedChild::start({"sh", "-c", "echo $$; echo two; exec sleep 1000"}, "", loop_,
                                     {.on_line = [&](std::string_view line) {
                                       lines.emplace_back(line);
                                       child.reset();
                                     }});
  ASSERT_TRUE(started);
  child.emplace(std::move(*started));
  const Instant deadline = Clock::now() + 30s;
  while (child && Clock::now() < deadline) loop_.wait_until(deadline);
  ASSERT_EQ(lines.size(), 1u);
  // It was killed and collected. ThreadSanitizer may have a child of its own, the symbolizer.
  EXPECT_EQ(::waitpid(std::stoi(lines.front()), nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace px::net
