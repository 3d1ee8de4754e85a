#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "cluster/supervise/supervisor.hpp"

namespace px::cluster {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant{} + time;
}
constexpr ProcessKey first{0};
constexpr ProcessKey second{1};

StartPlan two_local_engines() {
  StartPlan plan;
  plan.controller = PlannedProcess{};
  plan.controller->command = {.argv = {"pxcontroller"}, .environment = {}, .log_file = "/log/c"};
  for (const char* log : {"/log/0", "/log/1"})
    plan.engines.processes.push_back(
        {.command = {.argv = {"pxengine"}, .environment = {}, .log_file = log}, .engine_count = 1});
  plan.engine_set_id = "17";
  plan.client_file = "/security/client.json";
  return plan;
}

StartPlan three_ranks() {
  StartPlan plan = two_local_engines();
  plan.engines.processes.resize(1);
  plan.engines.processes[0].engine_count = 3;
  plan.engines.processes[0].has_children = true;
  plan.record.engine_launcher = "mpi";
  return plan;
}

/// The effects of one kind, in order.
template <class T>
std::vector<T> only(const std::vector<Effect>& effects) {
  std::vector<T> found;
  for (const Effect& effect : effects)
    if (const T* body = std::get_if<T>(&effect)) found.push_back(*body);
  return found;
}

std::string said(const std::vector<Effect>& effects) {
  std::string text;
  for (const Say& say : only<Say>(effects)) text += say.text + "\n";
  return text;
}

/// A cluster that has come as far as a test needs it: controller pid 10, engines 20, 21.
struct Story {
  explicit Story(StartPlan plan) : supervisor(std::move(plan)) {}
  std::vector<Effect> controller_is_up() {
    supervisor.begin(at(0s));
    supervisor.on(ProcessStarted{controller_process, 10}, at(0s));
    return supervisor.on(FilesReady{"{}"}, at(1s));
  }
  std::vector<Effect> engines_are_started() {
    controller_is_up();
    supervisor.on(ProcessStarted{first, 20}, at(1s));
    return supervisor.on(ProcessStarted{second, 21}, at(1s));
  }
  std::vector<Effect> all_is_up() {
    engines_are_started();
    return supervisor.on(EnginesCounted{2}, at(2s));
  }
  std::vector<Effect> ended(ProcessKey key, Duration when, os::ProcessEnd end = {}) {
    return supervisor.on(ProcessEnded{key, end, "", "last words"}, at(when));
  }
  Supervisor supervisor;
};

TEST(Supervisor, StartsTheControllerAlone) {
  Supervisor supervisor{two_local_engines()};
  const auto orders = only<StartProcess>(supervisor.begin(at(0s)));
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].key, controller_process);
}

TEST(Supervisor, StartsTheEnginesWithTheConnectionInfoWhenTheFilesAreThere) {
  Story story{two_local_engines()};
  const auto orders = only<StartProcess>(story.controller_is_up());
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[1].command.environment.at("IPP_CONNECTION_INFO"), "{\"engine_set\":\"17\"}");
  EXPECT_EQ(orders[1].command.environment.at("PX_ENGINE_NUMBER"), "1");
}

TEST(Supervisor, TellsTheEnginesTheirPlaceUnlessTheyComeToOthers) {
  const auto told = [](bool has_controller, int others) {
    StartPlan plan = two_local_engines();
    if (!has_controller) plan.controller.reset();
    if (!has_controller) plan.engine_info = "{}";
    plan.engines.ranks = {.hosts = {2}, .ports = {20001, 20002}};
    Story story{std::move(plan)};
    story.supervisor.begin(at(0s));
    const auto orders =
        only<StartProcess>(has_controller ? story.controller_is_up()
                                          : story.supervisor.on(EnginesCounted{others}, at(1s)));
    return orders.at(0).command.environment.at("IPP_CONNECTION_INFO");
  };
  const std::string world = R"({"engine_set":"17","ranks":{"hosts":[2],"ports":[20001,20002]}})";
  EXPECT_EQ(told(true, 0), world);
  EXPECT_EQ(told(false, 0), world);
  EXPECT_EQ(told(false, 3), R"({"engine_set":"17","ranks":{"ports":[20001,20002]}})");
}

TEST(Supervisor, WaitsForTheDelayIfThereIsOne) {
  StartPlan plan = two_local_engines();
  plan.delay = 3s;
  Story story{std::move(plan)};
  EXPECT_TRUE(only<StartProcess>(story.controller_is_up()).empty());
  EXPECT_EQ(story.supervisor.next_deadline(), at(4s));
  EXPECT_EQ(only<StartProcess>(story.supervisor.on_time(at(4s))).size(), 2u);
}

TEST(Supervisor, WritesAllPidsDownOnceTheEnginesAreStarted) {
  Story story{two_local_engines()};
  const auto records = only<SaveRecord>(story.engines_are_started());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].own.controller->pid, 10);
  EXPECT_EQ(records[0].own.engine_pids(), (std::vector<int>{20, 21}));
}

TEST(Supervisor, IsReadyWhenAllEnginesAreRegistered) {
  Story story{two_local_engines()};
  story.engines_are_started();
  const auto half = story.supervisor.on(EnginesCounted{1}, at(2s));
  EXPECT_EQ(only<ShowProgress>(half), (std::vector{ShowProgress{1, 2}}));
  EXPECT_TRUE(only<ReportReady>(half).empty());
  const auto all = story.supervisor.on(EnginesCounted{2}, at(2s));
  EXPECT_EQ(only<ReportReady>(all), (std::vector{ReportReady{2}}));
  EXPECT_EQ(story.supervisor.next_deadline(), std::nullopt);
}

TEST(Supervisor, TellsOnceWhatTheControllerSaysOfEnginesThatDoNotFitTogether) {
  Story story{two_local_engines()};
  story.engines_are_started();
  const std::vector<std::string> warnings{"engine 1 runs Python 3.9, engine 0 runs Python 3.11"};
  const auto first_answer = story.supervisor.on(EnginesCounted{1, warnings}, at(2s));
  EXPECT_EQ(only<Say>(first_answer), (std::vector{Say{Level::warning, warnings[0]}}));
  const auto second_answer = story.supervisor.on(EnginesCounted{2, warnings}, at(2s));
  EXPECT_EQ(said(second_answer), "2 engines are ready\n");
}

TEST(Supervisor, WaitsForTheEndOfAWatcherWhoseEnginesHaveAllEnded) {
  StartPlan plan = three_ranks();
  plan.engines.processes[0].command.has_reports = true;
  Story story{std::move(plan)};
  story.controller_is_up();
  story.supervisor.on(ProcessStarted{first, 20}, at(1s));
  const auto told =
      story.supervisor.on(ProcessReported{first, Level::warning, "no python", 0, false}, at(2s));
  EXPECT_EQ(said(told), "no python\n");
  EXPECT_TRUE(only<ReportReady>(story.supervisor.on(EnginesCounted{0}, at(2s))).empty());
  EXPECT_EQ(said(story.ended(first, 3s, {.exit_code = 1})),
            "3 of 3 engines exited before they registered; their process exited with code 1\n");
}

TEST(Supervisor, WaitsForFewerEnginesWhenAHostCannotHaveThem) {
  StartPlan plan = two_local_engines();
  plan.engines.processes[0].engine_count = 4;
  Story story{std::move(plan)};
  story.engines_are_started();
  story.supervisor.on(EnginesCounted{2}, at(2s));
  const auto ready =
      story.supervisor.on(ProcessReported{first, Level::warning, "", 1, false}, at(3s));
  EXPECT_EQ(only<ReportReady>(ready), (std::vector{ReportReady{2}}));
}

TEST(Supervisor, IsPatientWhileAJobWaitsInItsQueue) {
  Story story{three_ranks()};
  story.controller_is_up();
  story.supervisor.on(ProcessStarted{first, 20}, at(1s));
  story.supervisor.on(ProcessReported{first, Level::info, "", {}, true}, at(50s));
  EXPECT_EQ(story.supervisor.next_deadline(), at(110s));
}

TEST(Supervisor, NamesTheLogsOfEnginesThatDoNotRegisterAndRunsOn) {
  Story story{two_local_engines()};
  story.engines_are_started();
  story.supervisor.on(EnginesCounted{1}, at(2s));
  const auto effects = story.supervisor.on_time(at(61s));
  EXPECT_NE(said(effects).find("1 of 2 engines"), std::string::npos) << said(effects);
  EXPECT_NE(said(effects).find("/log/1"), std::string::npos);
  EXPECT_EQ(only<ReportReady>(effects).size(), 1u);
  EXPECT_FALSE(story.supervisor.is_ended());
}

TEST(Supervisor, StopsTheEnginesFirstAndThenTheController) {
  Story story{two_local_engines()};
  story.all_is_up();
  const auto asked = story.supervisor.on(SignalArrived{SIGINT}, at(9s));
  EXPECT_EQ(only<SendSignal>(asked),
            (std::vector{SendSignal{20, SIGTERM, false}, SendSignal{21, SIGTERM, false}}));
  EXPECT_TRUE(only<SendSignal>(story.ended(first, 10s)).empty());
  EXPECT_EQ(only<SendSignal>(story.ended(second, 10s)),
            (std::vector{SendSignal{10, SIGTERM, false}}));
  const auto last = story.ended(controller_process, 11s);
  EXPECT_EQ(only<SaveRecord>(last), (std::vector{SaveRecord{}}));
  EXPECT_EQ(only<RemoveConnectionFiles>(last).size(), 1u);
  EXPECT_EQ(only<EndRun>(last), (std::vector{EndRun{0}}));
  EXPECT_TRUE(story.supervisor.is_ended());
}

TEST(Supervisor, KillsWhatDoesNotEndInFiveSeconds) {
  Story story{two_local_engines()};
  story.all_is_up();
  story.supervisor.on(SignalArrived{SIGTERM}, at(9s));
  EXPECT_EQ(story.supervisor.next_deadline(), at(14s));
  const auto killed = only<SendSignal>(story.supervisor.on_time(at(14s)));
  EXPECT_EQ(killed, (std::vector{SendSignal{10, SIGKILL, true}, SendSignal{20, SIGKILL, true},
                                 SendSignal{21, SIGKILL, true}}));
}

TEST(Supervisor, KillsAtOnceAtTheSecondCtrlC) {
  Story story{two_local_engines()};
  story.all_is_up();
  story.supervisor.on(SignalArrived{SIGINT}, at(9s));
  EXPECT_EQ(only<SendSignal>(story.supervisor.on(SignalArrived{SIGINT}, at(10s))).size(), 3u);
}

TEST(Supervisor, GivesUpOnAProcessThatSurvivesSigkill) {
  Story story{two_local_engines()};
  story.all_is_up();
  story.supervisor.on(SignalArrived{SIGTERM}, at(9s));
  story.supervisor.on_time(at(14s));
  story.supervisor.on_time(at(19s));
  EXPECT_TRUE(story.supervisor.is_ended());
}

TEST(Supervisor, LeavesTheConnectionFilesOfAControllerThatReusesThem) {
  StartPlan plan = two_local_engines();
  plan.keeps_files = true;
  Story story{std::move(plan)};
  story.all_is_up();
  story.supervisor.on(SignalArrived{SIGTERM}, at(9s));
  story.ended(first, 9s);
  story.ended(second, 9s);
  EXPECT_TRUE(only<RemoveConnectionFiles>(story.ended(controller_process, 9s)).empty());
}

TEST(Supervisor, RelaysUserSignalsToTheEnginesAlone) {
  Story story{two_local_engines()};
  story.all_is_up();
  EXPECT_EQ(only<SendSignal>(story.supervisor.on(SignalArrived{SIGUSR1}, at(9s))),
            (std::vector{SendSignal{20, SIGUSR1, false}, SendSignal{21, SIGUSR1, false}}));
}

TEST(Supervisor, FailsWithTheLogOfAControllerThatDiesEarly) {
  Supervisor supervisor{two_local_engines()};
  supervisor.begin(at(0s));
  supervisor.on(ProcessStarted{controller_process, 10}, at(0s));
  const auto effects =
      supervisor.on(ProcessEnded{controller_process, {.exit_code = 3}, "", "no port"}, at(1s));
  EXPECT_NE(said(effects).find("exited with code 3"), std::string::npos);
  EXPECT_NE(said(effects).find("    | no port"), std::string::npos);
  EXPECT_EQ(only<EndRun>(effects), (std::vector{EndRun{1}}));
}

TEST(Supervisor, FailsWhenTheControllerWritesNoFilesInAMinute) {
  Supervisor supervisor{two_local_engines()};
  supervisor.begin(at(0s));
  supervisor.on(ProcessStarted{controller_process, 10}, at(0s));
  EXPECT_EQ(supervisor.next_deadline(), at(60s));
  const auto effects = supervisor.on_time(at(60s));
  EXPECT_NE(said(effects).find("/security/client.json within 60 s"), std::string::npos);
  EXPECT_EQ(only<SendSignal>(effects), (std::vector{SendSignal{10, SIGTERM, false}}));
}

TEST(Supervisor, FailsWhenAllEnginesEndBeforeTheyRegister) {
  Story story{two_local_engines()};
  story.engines_are_started();
  EXPECT_TRUE(only<SendSignal>(story.ended(first, 2s, {.exit_code = 1})).empty());
  const auto effects = story.ended(second, 3s, {.exit_code = 1});
  EXPECT_NE(
      said(effects).find("2 of 2 engines exited before they registered; the first exited with "
                         "code 1, the last exited with code 1"),
      std::string::npos)
      << said(effects);
  EXPECT_EQ(only<SendSignal>(effects), (std::vector{SendSignal{10, SIGTERM, false}}));
  EXPECT_EQ(only<EndRun>(story.ended(controller_process, 4s)), (std::vector{EndRun{1}}));
}

TEST(Supervisor, FailsWhenNoEngineCanBeStarted) {
  Story story{two_local_engines()};
  story.controller_is_up();
  for (const ProcessKey key : {first, second})
    story.supervisor.on(ProcessEnded{key, {.exit_code = 127}, "cannot run pxengine", ""}, at(1s));
  EXPECT_EQ(only<EndRun>(story.ended(controller_process, 2s)), (std::vector{EndRun{1}}));
}

TEST(Supervisor, TakesAnEngineThatDiedAsMissingNoMore) {
  Story story{two_local_engines()};
  story.engines_are_started();
  story.supervisor.on(EnginesCounted{1}, at(2s));
  const auto effects = story.ended(second, 3s, {.exit_code = 0, .signal = SIGSEGV});
  EXPECT_NE(said(effects).find("1 of 2 engines exited; the first was killed by SIGSEGV"),
            std::string::npos)
      << said(effects);
  EXPECT_EQ(only<ReportReady>(effects), (std::vector{ReportReady{1}}));
}

TEST(Supervisor, TakesEnginesThatEndWithTheControllerAsStoppedFromOutside) {
  Story story{two_local_engines()};
  story.all_is_up();
  story.ended(first, 5s, {.exit_code = 1});
  story.ended(second, 5s, {.exit_code = 1});
  EXPECT_EQ(only<EndRun>(story.ended(controller_process, 5s)), (std::vector{EndRun{0}}));
}

TEST(Supervisor, KeepsTheControllerWhenEnginesThatWereUsedAllEndRightAfterTheStart) {
  Story story{two_local_engines()};
  story.all_is_up();
  story.ended(first, 5s);
  const auto effects = story.ended(second, 5s, {.exit_code = 0, .signal = SIGKILL});
  EXPECT_NE(said(effects).find("start the engines again with `pxcluster restart`"),
            std::string::npos);
  EXPECT_TRUE(only<SendSignal>(effects).empty());
  EXPECT_EQ(story.supervisor.next_deadline(), std::nullopt);
}

TEST(Supervisor, FailsWhenEnginesThatNeverRegisteredAllEndRightAfterTheStart) {
  StartPlan plan = two_local_engines();
  plan.engine_timeout = 1s;
  Story story{std::move(plan)};
  story.engines_are_started();
  EXPECT_EQ(only<ReportReady>(story.supervisor.on_time(at(2s))).size(), 1u);
  story.ended(first, 5s);
  EXPECT_EQ(only<SendSignal>(story.ended(second, 5s)),
            (std::vector{SendSignal{10, SIGTERM, false}}));
}

TEST(Supervisor, FailsWhenAllEnginesEndBeforeTheStartIsDone) {
  Story story{three_ranks()};
  story.controller_is_up();
  story.supervisor.on(ProcessStarted{first, 20}, at(1s));
  story.supervisor.on(EnginesCounted{1}, at(2s));
  EXPECT_NE(said(story.ended(first, 3s, {.exit_code = 1})).find("3 of 3 engines exited"),
            std::string::npos);
  EXPECT_EQ(only<EndRun>(story.ended(controller_process, 4s)), (std::vector{EndRun{1}}));
}

TEST(Supervisor, KeepsTheControllerWhenTheEnginesEndLate) {
  Story story{two_local_engines()};
  story.all_is_up();
  story.ended(first, 50s);
  const auto effects = story.ended(second, 51s);
  EXPECT_TRUE(only<SendSignal>(effects).empty());
  ASSERT_EQ(only<SaveRecord>(effects).size(), 1u);
  EXPECT_TRUE(only<SaveRecord>(effects)[0].own.engine_sets.empty());
}

TEST(Supervisor, EndsWellWhenTheControllerIsAskedToStop) {
  Story story{two_local_engines()};
  story.all_is_up();
  EXPECT_EQ(only<SendSignal>(story.ended(controller_process, 50s)).size(), 2u);
  story.ended(first, 51s);
  EXPECT_EQ(only<EndRun>(story.ended(second, 51s)), (std::vector{EndRun{0}}));
}

TEST(Supervisor, EndsWithAnErrorWhenTheControllerIsKilled) {
  Story story{two_local_engines()};
  story.all_is_up();
  story.ended(controller_process, 50s, {.exit_code = 0, .signal = SIGKILL});
  story.ended(first, 51s);
  EXPECT_EQ(only<EndRun>(story.ended(second, 51s)), (std::vector{EndRun{1}}));
}

TEST(Supervisor, StartsAControllerThatIsKilledAgain) {
  StartPlan plan = two_local_engines();
  plan.takes_over = {"--restore"};
  Story story{std::move(plan)};
  story.all_is_up();
  const auto effects = story.ended(controller_process, 50s, {.exit_code = 0, .signal = SIGKILL});
  ASSERT_EQ(only<StartProcess>(effects).size(), 1u);
  EXPECT_EQ(only<StartProcess>(effects)[0].key, controller_process);
  EXPECT_EQ(only<StartProcess>(effects)[0].command.argv,
            (std::vector<std::string>{"pxcontroller", "--restore"}));
  EXPECT_NE(said(effects).find("killed by SIGKILL"), std::string::npos);
  EXPECT_NE(said(effects).find("starting the controller again"), std::string::npos);
  EXPECT_TRUE(only<SendSignal>(effects).empty());
  const auto started = story.supervisor.on(ProcessStarted{controller_process, 11}, at(51s));
  EXPECT_EQ(only<SaveRecord>(started)[0].own.controller->pid, 11);
  EXPECT_FALSE(story.supervisor.is_ended());
}

TEST(Supervisor, StartsAControllerAgainThatCannotStart) {
  StartPlan plan = two_local_engines();
  plan.takes_over = {"--restore"};
  Story story{std::move(plan)};
  story.all_is_up();
  story.ended(controller_process, 50s, {.exit_code = 0, .signal = SIGKILL});
  story.supervisor.on(ProcessStarted{controller_process, 11}, at(50s));
  const auto effects = story.ended(controller_process, 51s, {.exit_code = 1});
  EXPECT_TRUE(only<StartProcess>(effects).empty());
  EXPECT_EQ(said(effects),
            "the controller could not be started again: it exited with code 1: last words; "
            "trying again in 0.25 s\n");
  EXPECT_EQ(story.supervisor.next_deadline(), at(51s + 250ms));
  EXPECT_EQ(only<StartProcess>(story.supervisor.on_time(at(51s + 250ms))).size(), 1u);
  EXPECT_FALSE(story.supervisor.next_deadline());
}

TEST(Supervisor, DoesNotStartAControllerAgainOnceItStops) {
  StartPlan plan = two_local_engines();
  plan.takes_over = {"--restore"};
  Story story{std::move(plan)};
  story.all_is_up();
  story.ended(controller_process, 50s, {.exit_code = 0, .signal = SIGKILL});
  story.ended(controller_process, 51s, {.exit_code = 1});
  story.supervisor.on(SignalArrived{SIGTERM}, at(51s));
  EXPECT_TRUE(only<StartProcess>(story.supervisor.on_time(at(52s))).empty());
}

TEST(Supervisor, GivesUpOnAControllerThatDiesAgainAndAgain) {
  StartPlan plan = two_local_engines();
  plan.takes_over = {"--restore"};
  Story story{std::move(plan)};
  story.all_is_up();
  Duration now = 50s;
  for (int death = 0; death < 5; ++death, now += 10s) {
    story.ended(controller_process, now, {.exit_code = 1});
    story.supervisor.on_time(at(now + 5s));
    story.supervisor.on(ProcessStarted{controller_process, 11}, at(now + 5s));
    story.supervisor.on(FilesReady{"{}"}, at(now + 6s));
  }
  const auto effects = story.ended(controller_process, now, {.exit_code = 1});
  EXPECT_NE(said(effects).find("the controller has crashed 6 times within 600 s"),
            std::string::npos)
      << said(effects);
  story.ended(first, 101s);
  EXPECT_EQ(only<EndRun>(story.ended(second, 101s)), (std::vector{EndRun{1}}));
}

TEST(Supervisor, CountsTheRanksOfOneProcess) {
  Story story{three_ranks()};
  story.controller_is_up();
  story.supervisor.on(ProcessStarted{first, 20}, at(1s));
  EXPECT_TRUE(only<ReportReady>(story.supervisor.on(EnginesCounted{2}, at(2s))).empty());
  EXPECT_EQ(only<ReportReady>(story.supervisor.on(EnginesCounted{3}, at(2s))).size(), 1u);
}

TEST(Supervisor, LooksAfterTheRanksOfAnMpiexecThatIsGone) {
  Story story{three_ranks()};
  story.controller_is_up();
  story.supervisor.on(ProcessStarted{first, 20}, at(1s));
  const auto effects = story.ended(first, 2s, {.exit_code = 0, .signal = SIGKILL});
  EXPECT_EQ(only<SendSignal>(effects).front(), (SendSignal{20, SIGTERM, true}));
}

TEST(Supervisor, CountsOnlyItsOwnEnginesBesideThoseOfOthers) {
  StartPlan plan = two_local_engines();
  plan.controller.reset();
  plan.engine_info = "{\"key\": 1}";
  Supervisor supervisor{std::move(plan)};
  EXPECT_TRUE(only<StartProcess>(supervisor.begin(at(0s))).empty());
  EXPECT_EQ(only<StartProcess>(supervisor.on(EnginesCounted{5}, at(0s))).size(), 2u);
  supervisor.on(ProcessStarted{first, 20}, at(0s));
  supervisor.on(ProcessStarted{second, 21}, at(0s));
  EXPECT_TRUE(only<ReportReady>(supervisor.on(EnginesCounted{6}, at(1s))).empty());
  EXPECT_EQ(only<ReportReady>(supervisor.on(EnginesCounted{7}, at(1s))),
            (std::vector{ReportReady{2}}));
}

TEST(Supervisor, EndsWithItsOwner) {
  Story story{two_local_engines()};
  story.all_is_up();
  const auto effects = story.supervisor.on(OwnerEnded{"its owner, process 5,"}, at(9s));
  EXPECT_EQ(said(effects), "its owner, process 5, has ended: stopping the cluster\n");
  EXPECT_EQ(only<SendSignal>(effects).size(), 2u);
}

TEST(Supervisor, WritesDownThatItIsNobodysWhenItsOwnerLetsGoOfIt) {
  StartPlan plan = two_local_engines();
  plan.owner = 5;
  Story story{std::move(plan)};
  EXPECT_EQ(only<SaveRecord>(story.engines_are_started())[0].own.controller->owner, 5);
  EXPECT_EQ(only<SaveRecord>(story.supervisor.on(OwnerLeft{}, at(9s)))[0].own.controller->owner, 0);
}

// ---- restart

std::vector<PlacedEngine> own_engines(std::vector<int> ids) {
  std::vector<PlacedEngine> placed;
  for (const int id : ids) placed.push_back({EngineId{id}, "17", static_cast<int>(placed.size())});
  return placed;
}

/// Two engines with the ids 5 and 4, whose restart is asked for at 100 s.
struct RestartStory : Story {
  explicit RestartStory(StartPlan plan = two_local_engines()) : Story(std::move(plan)) {
    engines_are_started();
    supervisor.on(EnginesCounted{3, {}, own_engines({5, 4})}, at(2s));
  }
  std::vector<Effect> asked() { return supervisor.on(RestartAsked{}, at(100s)); }
  std::vector<Effect> counted(int count, std::vector<int> ids) {
    return supervisor.on(EnginesCounted{count, {}, own_engines(std::move(ids))}, at(101s));
  }
  /// Until the new engines are to be started.
  std::vector<Effect> ended_and_left() {
    asked();
    ended(first, 100s);
    ended(second, 100s);
    return counted(1, {});
  }
  std::vector<Effect> started_again() {
    supervisor.on(ProcessStarted{first, 30}, at(101s));
    return supervisor.on(ProcessStarted{second, 31}, at(101s));
  }
};

TEST(SupervisorRestart, EndsTheEnginesAndLeavesTheController) {
  RestartStory story;
  EXPECT_EQ(only<SendSignal>(story.asked()),
            (std::vector{SendSignal{20, SIGTERM, false}, SendSignal{21, SIGTERM, false}}));
}

TEST(SupervisorRestart, TellsTheControllerBeforeItEndsThem) {
  RestartStory story;
  const auto effects = story.asked();
  EXPECT_EQ(only<AnnounceEnd>(effects),
            (std::vector{AnnounceEnd{"17", "pxcluster ended it for a restart"}}));
  const auto is = [](auto type) {
    return [](const Effect& effect) { return std::holds_alternative<decltype(type)>(effect); };
  };
  EXPECT_LT(std::find_if(effects.begin(), effects.end(), is(AnnounceEnd{})),
            std::find_if(effects.begin(), effects.end(), is(SendSignal{})));
}

TEST(SupervisorRestart, KillsEnginesThatHang) {
  RestartStory story;
  story.asked();
  story.ended(first, 100s);
  EXPECT_EQ(story.supervisor.next_deadline(), at(101s));
  EXPECT_EQ(only<SendSignal>(story.supervisor.on_time(at(101s))),
            (std::vector{SendSignal{21, SIGKILL, true}}));
}

TEST(SupervisorRestart, GivesThoseTimeThatEndEnginesOnOtherHosts) {
  StartPlan plan = two_local_engines();
  plan.engines.processes[0].command.has_reports = true;
  RestartStory story{std::move(plan)};
  story.asked();
  EXPECT_EQ(story.supervisor.next_deadline(), at(105s));
}

TEST(SupervisorRestart, EndsRanksItselfAndMpiexecWhenTheyHaveLeft) {
  StartPlan plan = two_local_engines();
  plan.record.engine_launcher = "mpi";
  RestartStory story{std::move(plan)};
  EXPECT_EQ(only<SendSignal>(story.asked()),
            (std::vector{SendSignal{20, SIGTERM, true}, SendSignal{21, SIGTERM, true}}));
  EXPECT_TRUE(only<SendSignal>(story.counted(2, {5})).empty());
  EXPECT_EQ(only<SendSignal>(story.counted(1, {})),
            (std::vector{SendSignal{20, SIGKILL, true}, SendSignal{21, SIGKILL, true}}));
  EXPECT_TRUE(only<SendSignal>(story.counted(1, {})).empty());
}

TEST(SupervisorRestart, StartsNoEngineBeforeTheOldOnesHaveLeftTheController) {
  RestartStory story;
  story.asked();
  story.ended(first, 100s);
  EXPECT_TRUE(only<StartProcess>(story.ended(second, 100s)).empty());
  EXPECT_TRUE(only<StartProcess>(story.counted(2, {5})).empty());
  EXPECT_EQ(only<StartProcess>(story.counted(1, {})).size(), 2u);
}

TEST(SupervisorRestart, StartsThemInTheEndWhenTheControllerDoesNotLetThemGo) {
  RestartStory story;
  story.asked();
  story.ended(first, 100s);
  story.ended(second, 100s);
  EXPECT_EQ(only<StartProcess>(story.supervisor.on_time(at(115s))).size(), 2u);
}

TEST(SupervisorRestart, AsksForTheOldIds) {
  RestartStory story;
  const auto orders = only<StartProcess>(story.ended_and_left());
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0].command.environment.at("IPP_CONNECTION_INFO"),
            "{\"engine_ids\":[5,4],\"engine_set\":\"17\"}");
  EXPECT_EQ(orders[1].command.environment.at("PX_ENGINE_NUMBER"), "1");
}

TEST(SupervisorRestart, KeepsTheRanksAndTakesNewPorts) {
  StartPlan plan = two_local_engines();
  plan.engines.ranks = {.hosts = {2}, .ports = {20001, 20002}};
  RestartStory story{std::move(plan)};
  story.supervisor.on(RestartAsked{.rank_ports = {20003, 20004}}, at(100s));
  const auto orders = only<StartProcess>(story.ended_and_left());
  EXPECT_EQ(
      orders.at(0).command.environment.at("IPP_CONNECTION_INFO"),
      R"({"engine_ids":[5,4],"engine_set":"17","ranks":{"hosts":[2],"ports":[20003,20004]}})");
}

TEST(SupervisorRestart, IsReportedWhenAllAreRegisteredAgain) {
  RestartStory story;
  story.ended_and_left();
  EXPECT_EQ(only<SaveRecord>(story.started_again())[0].own.engine_pids(),
            (std::vector<int>{30, 31}));
  EXPECT_TRUE(only<ReportRestart>(story.counted(2, {5})).empty());
  const auto effects = story.counted(3, {5, 4});
  EXPECT_EQ(only<ReportRestart>(effects), (std::vector{ReportRestart{2, ""}}));
  EXPECT_TRUE(only<ReportReady>(effects).empty());
}

TEST(SupervisorRestart, WorksWhenTheEnginesHaveAllDied) {
  RestartStory story;
  story.ended(first, 50s);
  story.ended(second, 50s);
  story.asked();
  EXPECT_EQ(only<StartProcess>(story.counted(1, {})).size(), 2u);
}

TEST(SupervisorRestart, ThatBringsNoEngineBackIsReportedAndKeepsTheController) {
  RestartStory story;
  story.ended_and_left();
  story.started_again();
  story.ended(first, 102s, {.exit_code = 1});
  const auto effects = story.ended(second, 102s, {.exit_code = 1});
  ASSERT_EQ(only<ReportRestart>(effects).size(), 1u);
  EXPECT_NE(only<ReportRestart>(effects)[0].problem.find(
                "2 of 2 engines exited before they registered; the first exited with code 1"),
            std::string::npos);
  EXPECT_TRUE(only<SendSignal>(effects).empty());
}

TEST(SupervisorRestart, BringsBackAllRanksWhereSomeHadDied) {
  StartPlan plan = two_local_engines();
  plan.engines.processes[0].command.has_reports = true;
  plan.engines.processes[0].engine_count = 3;
  RestartStory story{std::move(plan)};
  story.supervisor.on(ProcessReported{first, Level::warning, "one died", 2, false}, at(50s));
  story.ended_and_left();
  story.started_again();
  EXPECT_TRUE(only<ReportRestart>(story.counted(4, {0, 1, 2})).empty());
  EXPECT_EQ(only<ReportRestart>(story.counted(5, {0, 1, 2, 3})),
            (std::vector{ReportRestart{4, ""}}));
}

/// Of the engine with the number 1 in the set, whose id is 4.
struct SingleRestartStory : RestartStory {
  using RestartStory::RestartStory;
  std::vector<Effect> asked_for_one() { return supervisor.on(RestartAsked{{1}}, at(100s)); }
  /// The engine 5 is there, and the engine 4 or not.
  std::vector<Effect> placed(bool has_both) {
    auto engines = own_engines({5, 4});
    if (!has_both) engines.pop_back();
    return supervisor.on(EnginesCounted{has_both ? 3 : 2, {}, engines}, at(101s));
  }
};

TEST(SupervisorRestart, OfOneEngineEndsItAloneAndAnnouncesThat) {
  SingleRestartStory story;
  const auto effects = story.asked_for_one();
  EXPECT_EQ(only<SendSignal>(effects), (std::vector{SendSignal{21, SIGTERM, false}}));
  EXPECT_EQ(only<AnnounceEnd>(effects),
            (std::vector{AnnounceEnd{"17/1", "pxcluster ended it for a restart"}}));
}

TEST(SupervisorRestart, OfOneEngineStartsItAloneWithItsIdAndNumber) {
  SingleRestartStory story;
  story.asked_for_one();
  EXPECT_TRUE(only<StartProcess>(story.placed(true)).empty());
  EXPECT_TRUE(only<StartProcess>(story.ended(second, 100s)).empty());
  EXPECT_TRUE(only<StartProcess>(story.placed(true)).empty());
  const auto orders = only<StartProcess>(story.placed(false));
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].key, second);
  EXPECT_EQ(orders[0].command.environment.at("PX_ENGINE_NUMBER"), "1");
  EXPECT_EQ(orders[0].command.environment.at("IPP_CONNECTION_INFO"),
            "{\"engine_ids\":[5,4],\"engine_set\":\"17\"}");
  EXPECT_EQ(only<SaveRecord>(story.supervisor.on(ProcessStarted{second, 31}, at(101s)))[0]
                .own.engine_pids(),
            (std::vector<int>{20, 31}));
  EXPECT_TRUE(only<ReportRestart>(story.placed(false)).empty());
  EXPECT_EQ(only<ReportRestart>(story.placed(true)), (std::vector{ReportRestart{1, ""}}));
}

TEST(SupervisorRestart, OfOneEngineWaitsUntilAllHaveRegistered) {
  Story story{two_local_engines()};
  story.engines_are_started();
  const auto early = story.supervisor.on(RestartAsked{{1}}, at(1s));
  EXPECT_TRUE(only<ReportRestart>(early).empty());
  EXPECT_TRUE(only<SendSignal>(early).empty());
  EXPECT_EQ(only<SendSignal>(story.supervisor.on(EnginesCounted{2}, at(2s))),
            (std::vector{SendSignal{21, SIGTERM, false}}));
}

TEST(SupervisorRestart, ThatWaitsIsDoneWhenAllEnginesHaveEndedBefore) {
  Story story{two_local_engines()};
  story.engines_are_started();
  story.supervisor.on(RestartAsked{{1}}, at(2s));
  story.ended(first, 40s);
  story.ended(second, 40s);
  const auto orders = only<StartProcess>(story.supervisor.on(EnginesCounted{0}, at(41s)));
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].key, second);
}

TEST(SupervisorRestart, ThatWaitsIsAnsweredWhenTheClusterStops) {
  Story story{two_local_engines()};
  story.engines_are_started();
  story.supervisor.on(RestartAsked{{1}}, at(1s));
  EXPECT_EQ(only<ReportRestart>(story.supervisor.on(OwnerEnded{"the shell"}, at(2s))),
            (std::vector{ReportRestart{0, "the cluster stops"}}));
}

TEST(SupervisorRestart, OfEnginesOfAnotherSetIsRefused) {
  SingleRestartStory story;
  const auto effects = story.supervisor.on(RestartAsked{{1}, true}, at(100s));
  ASSERT_EQ(only<ReportRestart>(effects).size(), 1u);
  EXPECT_NE(only<ReportRestart>(effects)[0].problem.find("all engines of their set have ended"),
            std::string::npos);
  EXPECT_TRUE(only<SendSignal>(effects).empty());
}

TEST(SupervisorRestart, OfAnEngineThatDiedBeforeItWasHeardOfGivesItItsId) {
  Story story{two_local_engines()};
  story.engines_are_started();
  story.supervisor.on(EnginesCounted{1, {}, {{EngineId{0}, "17", 0}}}, at(2s));
  story.ended(second, 2s, {.exit_code = 0, .signal = SIGKILL});
  story.supervisor.on(RestartAsked{{1}, false, {{EngineId{1}, "17", 1}}}, at(9s));
  const auto orders = only<StartProcess>(
      story.supervisor.on(EnginesCounted{1, {}, {{EngineId{0}, "17", 0}}}, at(9s)));
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].command.environment.at("IPP_CONNECTION_INFO"),
            "{\"engine_ids\":[0,1],\"engine_set\":\"17\"}");
}

TEST(SupervisorRestart, OfAnEngineThatHasDiedStartsItWhenItsIdIsFree) {
  SingleRestartStory story;
  story.ended(second, 50s, {.exit_code = 0, .signal = SIGKILL});
  EXPECT_TRUE(only<SendSignal>(story.asked_for_one()).empty());
  EXPECT_EQ(only<StartProcess>(story.placed(false)).size(), 1u);
}

TEST(SupervisorRestart, OfOneEngineGoesOnWhenTheOtherDiesMeanwhile) {
  SingleRestartStory story;
  story.ended(second, 50s);
  story.asked_for_one();
  EXPECT_TRUE(only<ReportRestart>(story.ended(first, 100s)).empty());
  EXPECT_EQ(only<StartProcess>(story.counted(1, {})).size(), 1u);
  story.supervisor.on(ProcessStarted{second, 31}, at(101s));
  const std::vector<PlacedEngine> back{{EngineId{4}, "17", 1}};
  EXPECT_EQ(only<ReportRestart>(story.supervisor.on(EnginesCounted{2, {}, back}, at(102s))),
            (std::vector{ReportRestart{1, ""}}));
}

TEST(SupervisorRestart, OfOneEngineThatDoesNotStartIsReported) {
  SingleRestartStory story;
  story.asked_for_one();
  story.ended(second, 100s);
  story.placed(false);
  story.supervisor.on(ProcessStarted{second, 31}, at(101s));
  const auto effects = story.ended(second, 102s, {.exit_code = 1});
  EXPECT_EQ(only<ReportRestart>(effects),
            (std::vector{ReportRestart{0, "1 of 1 engine exited; the first exited with code 1"}}));
  story.asked();  // all of them, and the one that is not there
  EXPECT_EQ(only<StartProcess>([&] {
              story.ended(first, 103s);
              return story.counted(1, {});
            }())
                .size(),
            2u);
}

/// Two hosts with two engines each, ids 0 to 3, whose watchers take orders.
struct HostsStory : Story {
  static StartPlan plan() {
    StartPlan plan = two_local_engines();
    for (PlannedProcess& process : plan.engines.processes) {
      process.engine_count = 2;
      process.command.has_reports = process.command.takes_orders = true;
    }
    return plan;
  }
  HostsStory() : Story(plan()) {
    engines_are_started();
    counted("abcd");
  }
  /// uuids  of the engines 0 to 3, a letter each; '-': it is not there.
  std::vector<Effect> counted(std::string_view uuids) {
    std::vector<PlacedEngine> placed;
    for (int i = 0; i < 4; ++i)
      if (uuids[static_cast<std::size_t>(i)] != '-')
        placed.push_back(
            {EngineId{i}, "17", i, EngineUuid{uuids.substr(static_cast<std::size_t>(i), 1)}});
    const int count = static_cast<int>(placed.size());
    return supervisor.on(EnginesCounted{count, {}, std::move(placed)}, at(101s));
  }
};

TEST(SupervisorRestart, OfAnEngineOnAnotherHostIsOrderedThere) {
  HostsStory story;
  const auto asked = story.supervisor.on(RestartAsked{{3}}, at(100s));
  EXPECT_TRUE(only<SendSignal>(asked).empty());
  EXPECT_EQ(only<AnnounceEnd>(asked)[0].engine_set, "17/3");
  const auto orders = only<OrderRestart>(story.counted("abcd"));
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].pid, 21);
  EXPECT_EQ(orders[0].order.engines, std::vector<int>{1});
  EXPECT_TRUE(only<ReportRestart>(story.counted("abcd")).empty());
  EXPECT_TRUE(only<ReportRestart>(story.counted("abc-")).empty());
  EXPECT_EQ(only<ReportRestart>(story.counted("abce")), (std::vector{ReportRestart{1, ""}}));
}

TEST(SupervisorRestart, OfAnEngineOnAnotherHostThatDoesNotStartIsReported) {
  HostsStory story;
  story.supervisor.on(RestartAsked{{3}}, at(100s));
  story.counted("abc-");
  const auto effects = story.supervisor.on(
      ProcessReported{second, Level::error, "cannot start", 1, false}, at(102s));
  EXPECT_EQ(only<ReportRestart>(effects),
            (std::vector{ReportRestart{0, "1 of 1 engine exited; the first did not start"}}));
}

TEST(SupervisorRestart, OfAnEngineWhoseHostHasNoneIsRefused) {
  HostsStory story;
  story.ended(second, 50s);
  const auto effects = story.supervisor.on(RestartAsked{{3}}, at(100s));
  EXPECT_EQ(only<ReportRestart>(effects)[0].problem,
            "no engine of its host runs any more: restart all 2 engines of that host together");
  story.supervisor.on(RestartAsked{{2, 3}}, at(100s));
  EXPECT_EQ(only<StartProcess>(story.counted("ab--")).size(), 1u);
}

TEST(SupervisorRestart, OfOneOfTheEnginesOfOneProcessIsRefused) {
  StartPlan plan = three_ranks();
  plan.engines.processes[0].command.log_file = "/log/0";
  Story story{std::move(plan)};
  story.controller_is_up();
  story.supervisor.on(ProcessStarted{first, 20}, at(1s));
  story.supervisor.on(EnginesCounted{3, {}, own_engines({0, 1, 2})}, at(2s));
  const auto effects = story.supervisor.on(RestartAsked{{1}}, at(9s));
  ASSERT_EQ(only<ReportRestart>(effects).size(), 1u);
  EXPECT_NE(only<ReportRestart>(effects)[0].problem.find("cannot be restarted one by one"),
            std::string::npos);
  EXPECT_TRUE(only<SendSignal>(effects).empty());
  EXPECT_EQ(only<AnnounceEnd>(story.supervisor.on(RestartAsked{{0, 1, 2}}, at(9s)))[0].engine_set,
            "17");
}

TEST(SupervisorRestart, IsRefusedBeforeTheFirstStart) {
  Story story{two_local_engines()};
  story.supervisor.begin(at(0s));
  story.supervisor.on(ProcessStarted{controller_process, 10}, at(0s));
  const auto effects = story.supervisor.on(RestartAsked{}, at(1s));
  ASSERT_EQ(only<ReportRestart>(effects).size(), 1u);
  EXPECT_EQ(story.supervisor.next_deadline(), at(60s));
}

TEST(SupervisorRestart, ThatIsAskedForTwiceIsDoneOnce) {
  RestartStory story;
  story.asked();
  EXPECT_TRUE(story.asked().empty());
}

TEST(SupervisorRestart, IsReportedWhenTheClusterStopsMeanwhile) {
  RestartStory story;
  story.asked();
  const auto effects = story.supervisor.on(SignalArrived{SIGTERM}, at(101s));
  EXPECT_EQ(only<ReportRestart>(effects), (std::vector{ReportRestart{0, "the cluster stops"}}));
}

TEST(Supervisor, SaysThatNoControllerAnswers) {
  StartPlan plan = two_local_engines();
  plan.controller.reset();
  Supervisor supervisor{std::move(plan)};
  supervisor.begin(at(0s));
  const auto effects = supervisor.on_time(at(10s));
  EXPECT_NE(said(effects).find("no controller answers"), std::string::npos);
  EXPECT_EQ(only<EndRun>(effects), (std::vector{EndRun{1}}));
}

TEST(Supervisor, IsReadyAtOnceWithoutEngines) {
  StartPlan plan = two_local_engines();
  plan.engines.processes.clear();
  Story story{std::move(plan)};
  EXPECT_EQ(only<ReportReady>(story.controller_is_up()).size(), 1u);
}

TEST(Supervisor, TellsTheControllerHowAnEngineEnded) {
  Story story{two_local_engines()};
  story.all_is_up();
  const auto told = only<ReportDeath>(story.ended(second, 9s, {.signal = SIGSEGV}));
  EXPECT_EQ(told, (std::vector{ReportDeath{21, {.signal = SIGSEGV}, "/log/1"}}));
}

TEST(Supervisor, LeavesTheEndsOfRanksToThoseWhoWaitForThem) {
  Story story{three_ranks()};
  story.controller_is_up();
  story.supervisor.on(ProcessStarted{first, 20}, at(1s));
  story.supervisor.on(EnginesCounted{3}, at(2s));
  EXPECT_TRUE(only<ReportDeath>(story.ended(first, 9s, {.exit_code = 1})).empty());
}

TEST(Supervisor, KeepsTheControllerWhenAllEnginesDieSoonAfterTheyWereReady) {
  Story story{two_local_engines()};
  story.all_is_up();
  story.ended(first, 3s, {.exit_code = 3});
  const auto effects = story.ended(second, 3s, {.exit_code = 3});
  EXPECT_NE(said(effects).find("the controller keeps running"), std::string::npos);
  EXPECT_FALSE(story.supervisor.next_deadline());
  EXPECT_TRUE(only<SendSignal>(effects).empty());
}

}  // namespace
}  // namespace px::cluster
