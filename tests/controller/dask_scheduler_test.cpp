#include "controller/setup/dask_scheduler.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>

#include "os/private_file.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

TEST(DaskFile, HasTheAddress) {
  const auto found = read_dask_file(R"({"type": "Scheduler", "address": "tcp://10.0.0.7:40001"})");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ip, "10.0.0.7");
  EXPECT_EQ(found->port, 40001);
  EXPECT_EQ(found->address, "tcp://10.0.0.7:40001");
}

TEST(DaskFile, IsOnlyReadWhenItIsWhole) {
  for (const char* text : {"", "{", R"({"type": "Scheduler", "addr)", R"({"address": "nonsense"})",
                           R"({"address": "tcp://10.0.0.7:"})"})
    EXPECT_FALSE(read_dask_file(text)) << text;
}

/// A program `dask` of our own, first in $PATH.
class DaskSchedulerTest : public testing::Test {
 protected:
  DaskSchedulerTest()
      : path_("PATH", (folder_.path().string() + ":/usr/bin:/bin").c_str()),
        scheduler_("127.0.0.1", loop_) {}

  void write_dask(const std::string& script) {
    const std::string program = folder_.path() / "dask";
    std::ofstream(program) << "#!/bin/sh\necho $$ > " << pid_file() << "\n" << script << "\n";
    ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  }
  std::string pid_file() const { return folder_.path() / "pid"; }
  pid_t pid() const { return std::stoi(*os::read_file(pid_file())); }

  /// What the controller's loop does until there is news.
  std::optional<Result<DaskAddress>> wait_for_news() {
    const Instant end = Clock::now() + 30s;
    while (Clock::now() < end) {
      if (auto news = scheduler_.poll(Clock::now())) return news;
      turn(end);
    }
    return std::nullopt;
  }
  void turn(Instant end) {
    loop_.wait_until(std::min(end, scheduler_.next_deadline().value_or(end)));
    scheduler_.on_time(Clock::now());
  }

  /// Writes where it listens, as dask does.
  static constexpr const char* writes_file =
      "while [ $# -gt 0 ]; do [ \"$1\" = --scheduler-file ] && file=$2; shift; done\n"
      "echo '{\"address\": \"tcp://127.0.0.1:4711\"}' > $file";

  os::TemporaryFolder folder_;
  os::ScopedVariable path_;
  net::Loop loop_;
  DaskScheduler scheduler_;
};

TEST_F(DaskSchedulerTest, HasAnAddressWhenItHasWrittenItsFile) {
  write_dask(std::string(writes_file) + "\nexec sleep 1000");
  scheduler_.start(Clock::now());
  const auto news = wait_for_news();
  ASSERT_TRUE(news && *news);
  EXPECT_EQ((**news).port, 4711);
  EXPECT_FALSE(scheduler_.next_deadline());  // nothing is polled any more
}

TEST_F(DaskSchedulerTest, ThatEndsBeforeItIsUpIsAnErrorWithItsLastOutput) {
  write_dask("echo no module named distributed >&2; exit 1");
  scheduler_.start(Clock::now());
  const auto news = wait_for_news();
  ASSERT_TRUE(news);
  ASSERT_FALSE(*news);
  EXPECT_NE(news->error().what.find("no module named distributed"), std::string::npos)
      << news->error().what;
}

TEST_F(DaskSchedulerTest, FindsModulesInTheFolderOfTheController) {
  const os::ScopedVariable set{"PYTHONPATH", "/own/modules"};
  write_dask("echo path: $PYTHONPATH; exit 1");
  scheduler_.start(Clock::now());
  const auto news = wait_for_news();
  ASSERT_TRUE(news && !*news);
  const std::string path = std::filesystem::current_path().string() + ":/own/modules";
  EXPECT_NE(news->error().what.find("path: " + path), std::string::npos) << news->error().what;
}

TEST_F(DaskSchedulerTest, WhoseEndTheLoopNoticedIsStartedAgain) {
  write_dask(std::string(writes_file) + "\nexec sleep 1000");
  scheduler_.start(Clock::now());
  ASSERT_TRUE(wait_for_news());
  const pid_t first = pid();
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  loop_.wait_until(Clock::now() + 30s);  // the end of the child wakes it
  EXPECT_EQ(::kill(first, 0), -1);       // no zombie is left
  scheduler_.start(Clock::now());
  const auto news = wait_for_news();
  ASSERT_TRUE(news && *news);
  EXPECT_NE(pid(), first);
}

TEST_F(DaskSchedulerTest, ThatIgnoresSigtermIsKilledWithoutWaitingForIt) {
  write_dask("trap '' TERM\n" + std::string(writes_file) + "\nexec sleep 1000");
  scheduler_.start(Clock::now());
  ASSERT_TRUE(wait_for_news());
  const pid_t child = pid();
  scheduler_.stop();
  EXPECT_EQ(::kill(child, 0), 0);
  scheduler_.on_time(Clock::now() + 3s);  // the time between SIGTERM and SIGKILL is over
  const Instant end = Clock::now() + 30s;
  while (::kill(child, 0) == 0 && Clock::now() < end) turn(end);
  EXPECT_EQ(::kill(child, 0), -1);
}

}  // namespace
}  // namespace px::controller
