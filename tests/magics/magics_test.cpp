#include "magics/magics.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "client/requests/call.hpp"
#include "magics/cluster_command.hpp"

namespace px::magics {
namespace {

/// Keeps what was written; interrupts as often as it is told to.
class FakeScreen final : public CellOutput {
 public:
  void perform(const Action& action) override {
    if (const auto* write = std::get_if<WriteText>(&action)) text += write->text;
  }
  bool is_interrupted() override { return interrupts-- > 0; }
  void run_here(const std::string& code) override { text += "here: " + code + "\n"; }

  std::string text;
  int interrupts = 0;
};

/// A call whose engines are played by the test.
struct FakeCall {
  explicit FakeCall(int count) {
    std::vector<client::TaskSent> tasks;
    for (int id = 0; id < count; ++id) {
      engines.push_back(EngineId{id});
      tasks.push_back({MessageId{"m" + std::to_string(id)}, EngineId{id}, EngineUuid{"e"}, {}, {}});
    }
    call = std::make_shared<client::Call>(std::move(tasks));
  }
  FakeCall& print(std::size_t rank, const std::string& text) {
    return publish(rank, "stream", {{"name", "stdout"}, {"text", text}});
  }
  FakeCall& publish(std::size_t rank, const std::string& type, Json content) {
    call->publish(rank, {type, std::move(content), {}, {}});
    return *this;
  }
  FakeCall& end(std::size_t rank) {
    client::ReplyHead head;
    head.status = client::TaskStatus::ok;
    call->answer(rank, head, {}, {});
    call->complete_output(rank);
    return *this;
  }
  FakeCall& fail(std::size_t rank, const client::Failure& failure) {
    call->fail(rank, failure, {});
    call->complete_output(rank);
    return *this;
  }
  WatchEnd watch(FakeScreen& screen, bool is_live = true, WatchOptions options = {}) const {
    options.display.engines = engines;
    options.is_live = is_live;
    options.signal = 0;
    return CellWatch{client::AsyncResult{call, {}}, options, screen}.wait();
  }

  std::vector<EngineId> engines;
  std::shared_ptr<client::Call> call;
};

TEST(CellWatch, ShowsWhatWasPrintedAndEndsWithTheCell) {
  FakeScreen screen;
  FakeCall call{2};
  call.print(0, "hello\n").print(1, "hello\n").end(0).end(1);
  EXPECT_FALSE(call.watch(screen).was_interrupted);
  EXPECT_EQ(screen.text, "[0,1] hello\n");
}

TEST(CellWatch, AFailureThatWasPublishedIsShownOnce) {
  FakeScreen screen;
  FakeCall call{1};
  call.publish(0, "error", {{"ename", "ValueError"}, {"evalue", "v"}, {"traceback", {"tb"}}});
  call.fail(0, {"ValueError", "v", {"tb"}, EngineId{0}, ""});
  call.watch(screen);
  EXPECT_EQ(screen.text, "[0] ValueError: v\ntb\n");
}

TEST(CellWatch, AFailureThatNobodyPublishedIsShownToo) {
  FakeScreen screen;
  FakeCall call{2};
  call.end(0).fail(1, {"EngineError", "Engine 1 died", {}, EngineId{1}, ""});
  call.watch(screen);
  EXPECT_EQ(screen.text, "[1] EngineError: Engine 1 died\n");
}

TEST(CellWatch, WhatIsNotStreamedIsNotShown) {
  FakeScreen screen;
  FakeCall call{1};
  call.print(0, "later\n").fail(0, {"ValueError", "v", {}, EngineId{0}, ""});
  call.watch(screen, false);
  EXPECT_EQ(screen.text, "");
}

TEST(CellWatch, ASecondInterruptReturnsAtOnceAndNamesWhoGoesOn) {
  FakeScreen screen;
  screen.interrupts = 2;
  FakeCall call{3};
  const WatchEnd end = call.end(1).watch(screen);
  EXPECT_TRUE(end.was_interrupted);
  EXPECT_EQ(end.stuck, (std::vector<EngineId>{{0}, {2}}));
  EXPECT_EQ(screen.text.find("Engines 0 and 2 have not stopped"), 0U) << screen.text;
  EXPECT_NE(screen.text.find("by `%pxcluster restart`"), std::string::npos);
}

TEST(CellWatch, ACellWhoseTimeIsOverIsInterruptedAndItsEnginesAreNamed) {
  FakeScreen screen;
  WatchOptions options;
  options.timeout = Duration{1};
  FakeCall call{3};
  const WatchEnd end = call.end(1).watch(screen, true, options);
  EXPECT_TRUE(end.was_interrupted);
  EXPECT_EQ(screen.text.find("Timed out after 1e-09 s; still running: engines 0 and 2.\n"), 0U)
      << screen.text;
}

TEST(CellWatch, ACellThatEndsInTimeIsLeftAlone) {
  FakeScreen screen;
  WatchOptions options;
  options.timeout = std::chrono::hours(1);
  FakeCall call{2};
  EXPECT_FALSE(call.end(0).end(1).watch(screen, true, options).was_interrupted);
  EXPECT_EQ(screen.text, "");
}

// ---------------------------------------------------------------- without a cluster

std::shared_ptr<client::ClientCore> nobody() {
  throw client::ClientError(ErrorKind::not_found, "no cluster runs here");
}

TEST(Magics, ConfigurationNeedsNoCluster) {
  Magics magics{nobody};
  magics.pxconfig(
      "--noblock --no-stream --verbose --no-fold --progress-after 5 --ranks-after 3 "
      "-t all --signal-on-interrupt 9 --max-output 7");
  EXPECT_FALSE(magics.settings().block);
  EXPECT_FALSE(magics.settings().stream);
  EXPECT_TRUE(magics.settings().verbose);
  EXPECT_FALSE(magics.settings().fold);
  EXPECT_EQ(magics.settings().progress_after, 5);
  EXPECT_EQ(magics.settings().ranks_after, 3);
  EXPECT_EQ(magics.settings().signal, Json(9));
  EXPECT_EQ(magics.settings().max_output, 7U);
  EXPECT_EQ(magics.settings().targets, Json("all"));
}

TEST(Magics, ALineIsReadBeforeAClusterIsLookedFor) {
  Magics magics{nobody};
  FakeScreen screen;
  EXPECT_THROW(
      {
        try {
          magics.px_cell("--blok", "pass", screen);
        } catch (const client::ClientError& error) {
          EXPECT_EQ(error.kind(), ErrorKind::bad_input);
          throw;
        }
      },
      client::ClientError);
  EXPECT_THROW(magics.px_line("pass", screen), client::ClientError);
}

TEST(Magics, ThereIsNoResultBeforeTheFirstCell) {
  Magics magics{nobody};
  FakeScreen screen;
  EXPECT_THROW(magics.pxresult("", screen), client::ClientError);
}

// ---------------------------------------------------------------- %pxcluster

using Words = std::vector<std::string>;

TEST(ClusterCommand, StartGoesToTheBackgroundAndKnowsWhatTheCellsAre) {
  EXPECT_EQ(cluster_command("pxcluster", {"start", "-n", "4"}, "", "", "cpp"),
            (Words{"pxcluster", "start", "-n", "4", "--daemonize", "--notebook=cpp"}));
  EXPECT_EQ(cluster_command("pxcluster", {"start", "--daemonize=True"}, "", "", "python"),
            (Words{"pxcluster", "start", "--daemonize=True", "--notebook=python"}));
}

TEST(ClusterCommand, WhatIsForTheControllerStaysLast) {
  EXPECT_EQ(
      cluster_command("pxcluster", {"engines", "--", "--ports=4000-4100"}, "", "b", "cpp"),
      (Words{"pxcluster", "engines", "--daemonize", "--cluster-id=b", "--", "--ports=4000-4100"}));
}

TEST(ClusterCommand, TheClusterIsThatOfTheMagicsUnlessItIsNamed) {
  EXPECT_EQ(cluster_command("pxcluster", {"stop"}, "mpi", "b", "cpp"),
            (Words{"pxcluster", "stop", "--profile=mpi", "--cluster-id=b"}));
  EXPECT_EQ(cluster_command("pxcluster", {"stop", "--profile=x"}, "mpi", "", "cpp"),
            (Words{"pxcluster", "stop", "--profile=x"}));
}

TEST(ClusterCommand, HelpIsOnlyPassedOn) {
  EXPECT_EQ(cluster_command("pxcluster", {"start", "--help"}, "mpi", "", "cpp"),
            (Words{"pxcluster", "start", "--help"}));
  EXPECT_EQ(cluster_command("pxcluster", {}, "mpi", "", "cpp"), (Words{"pxcluster"}));
}

TEST(Settings, AreShownAsTheWordsThatSetThem) {
  MagicSettings settings;
  settings.targets = {0, 2};
  settings.fold = false;
  EXPECT_EQ(settings_text(settings, "mpi", ""),
            "--targets=0,2\n--block\n--stream\n--no-verbose\n--no-fold\n--language=all\n"
            "--interrupt-after=never\n--progress-after=2\n--ranks-after=1\n--signal-on-interrupt="
            "SIGINT\n--max-"
            "output=auto\n"
            "--profile=mpi\n");
}

TEST(RunProgram, ShowsWhatItPrintsAndGivesItsStatus) {
  FakeScreen screen;
  const auto status = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"}, screen);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 3);
  EXPECT_NE(screen.text.find("out\n"), std::string::npos);
  EXPECT_NE(screen.text.find("err\n"), std::string::npos);
}

TEST(RunProgram, WhatItLeavesBehindDoesNotHoldTheCell) {
  FakeScreen screen;
  const auto status = run_program({"sh", "-c", "sleep 30 & echo $!"}, screen);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 0);
  const int left = std::atoi(screen.text.c_str());
  if (left > 0) ::kill(left, SIGKILL);
}

TEST(RunProgram, AProgramThatIsNotThereIsAnError) {
  FakeScreen screen;
  const auto status = run_program({"/nowhere/pxcluster"}, screen);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace px::magics
