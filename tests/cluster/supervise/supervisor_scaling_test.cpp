#include <gtest/gtest.h>

#include <csignal>

#include "cluster/supervise/supervisor.hpp"

namespace px::cluster {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant{} + time;
}

PlannedProcess engine_process(int number) {
  return {.command = {.argv = {"pxengine"},
                      .environment = {},
                      .log_file = "/log/" + std::to_string(number)},
          .engine_count = 1};
}

StartPlan set_of(int engines) {
  StartPlan plan;
  plan.controller = PlannedProcess{};
  plan.controller->command = {.argv = {"pxcontroller"}, .environment = {}, .log_file = "/log/c"};
  for (int i = 0; i < engines; ++i) plan.engines.processes.push_back(engine_process(i));
  plan.plan_more = [](int first, int count) -> Result<std::vector<PlannedProcess>> {
    std::vector<PlannedProcess> more;
    for (int i = 0; i < count; ++i) more.push_back(engine_process(first + i));
    return more;
  };
  plan.engine_set_id = "17";
  return plan;
}

/// A cluster whose engines run and are known to the controller. The pid of engine i is 20 + i, and
/// 100 more at each further start.
struct ScalingStory {
  explicit ScalingStory(StartPlan plan) : supervisor(plan) {
    const int engines = static_cast<int>(plan.engines.processes.size());
    supervisor.begin(at(0s));
    supervisor.on(ProcessStarted{controller_process, 10}, at(0s));
    take(supervisor.on(FilesReady{"{}"}, at(1s)), 1s);
    all_register(1s);
    EXPECT_EQ(static_cast<int>(pids.size()), engines);
  }
  /// Carries out what starts and ends processes.
  void take(std::vector<Effect> effects, Duration when) {
    for (const Effect& effect : effects) {
      all.push_back(effect);
      if (const auto* start = std::get_if<StartProcess>(&effect)) {
        const int number = start->key.value;
        pids[number] = 20 + number + 100 * starts[number]++;
        take(supervisor.on(ProcessStarted{start->key, pids[number]}, at(when)), when);
      }
    }
  }
  std::vector<PlacedEngine> placed() const {
    std::vector<PlacedEngine> engines;
    for (const auto& [number, pid] : pids)
      engines.push_back({EngineId{number}, "17", number, EngineUuid{std::to_string(pid)}});
    return engines;
  }
  void all_register(Duration when) {
    take(supervisor.on(EnginesCounted{static_cast<int>(pids.size()), {}, placed()}, at(when)),
         when);
  }
  void scale(int least, int most, Duration when) {
    take(supervisor.on(ScaleAsked{{least, most, 10}}, at(when)), when);
  }
  void load(std::size_t waiting, Duration when, std::size_t tasks = 0) {
    LoadReported report{.waiting = waiting, .engines = {}, .placed = placed()};
    for (const auto& [number, pid] : pids)
      report.engines.push_back({number, EngineUuid{std::to_string(pid)}, tasks});
    take(supervisor.on(report, at(when)), when);
  }
  void ended(int number, Duration when, os::ProcessEnd end) {
    pids.erase(number);
    take(supervisor.on(ProcessEnded{ProcessKey{number}, end, "", "last words"}, at(when)), when);
    take(supervisor.on_time(at(when)), when);
  }
  /// The effects of one kind since the last call, which forgets all.
  template <class T>
  std::vector<T> took() {
    std::vector<T> found;
    for (const Effect& effect : all)
      if (const T* body = std::get_if<T>(&effect)) found.push_back(*body);
    all.clear();
    return found;
  }
  Supervisor supervisor;
  std::map<int, int> pids, starts;
  std::vector<Effect> all;
};

constexpr os::ProcessEnd killed{.exit_code = 0, .signal = SIGKILL};

TEST(SupervisorScaling, StartsEnginesForWaitingTasksInTheirSet) {
  ScalingStory story{set_of(0)};
  story.scale(0, 3, 2s);
  EXPECT_EQ(story.took<WatchLoad>(), (std::vector{WatchLoad{true, 3}}));
  story.load(2, 3s);
  const auto started = story.took<StartProcess>();
  ASSERT_EQ(started.size(), 2u);
  EXPECT_EQ(started[1].key, ProcessKey{1});
  EXPECT_EQ(started[1].command.environment.at("PX_ENGINE_NUMBER"), "1");
  EXPECT_EQ(started[1].command.environment.at("IPP_CONNECTION_INFO"),
            R"({"engine_ids":[0,1,2],"engine_set":"17"})");
}

TEST(SupervisorScaling, StartsNoMoreBeforeTheLastOnesHaveRegistered) {
  ScalingStory story{set_of(0)};
  story.scale(0, 3, 2s);
  story.load(1, 3s);
  story.took<StartProcess>();
  story.load(9, 4s);
  story.load(9, 5s);
  EXPECT_TRUE(story.took<StartProcess>().empty());
  story.all_register(6s);
  story.load(9, 7s);
  story.load(9, 8s);
  EXPECT_EQ(story.took<StartProcess>().size(), 2u);
}

TEST(SupervisorScaling, DrainsAnIdleEngineAndThenEndsItForGood) {
  ScalingStory story{set_of(2)};
  story.scale(1, 2, 2s);
  story.load(0, 3s);
  story.all.clear();
  story.load(0, 13s);
  EXPECT_EQ(story.took<DrainEngines>(), (std::vector{DrainEngines{{"17/1"}, true}}));
  story.load(0, 14s);
  const auto effects = story.all;
  EXPECT_EQ(story.took<SendSignal>(), (std::vector{SendSignal{21, SIGTERM, false}}));
  story.all = effects;
  const auto announced = story.took<AnnounceEnd>();
  ASSERT_EQ(announced.size(), 1u);
  EXPECT_EQ(announced[0].engine_set, "17/1");
  EXPECT_TRUE(announced[0].is_for_good);
  story.ended(1, 15s, {.exit_code = 0, .signal = SIGTERM});
  EXPECT_TRUE(story.took<Say>().empty());
}

TEST(SupervisorScaling, KillsAnEngineThatDoesNotEnd) {
  ScalingStory story{set_of(1)};
  story.scale(0, 1, 2s);
  for (const Duration when : {3s, 13s, 14s}) story.load(0, when);
  story.all.clear();
  EXPECT_EQ(story.supervisor.next_deadline(), at(19s));
  story.take(story.supervisor.on_time(at(19s)), 19s);
  EXPECT_EQ(story.took<SendSignal>(), (std::vector{SendSignal{20, SIGKILL, true}}));
}

TEST(SupervisorScaling, GoesOnWithoutAnyEngine) {
  ScalingStory story{set_of(1)};
  story.scale(0, 1, 2s);
  for (const Duration when : {3s, 13s, 14s}) story.load(0, when);
  story.ended(0, 15s, {.exit_code = 0, .signal = SIGTERM});
  EXPECT_FALSE(story.supervisor.is_ended());
  story.all.clear();
  story.load(1, 16s);
  EXPECT_EQ(story.took<StartProcess>().size(), 1u);
}

TEST(SupervisorScaling, ARestartOfAllLeavesOutTheEnginesThatAreNotNeeded) {
  ScalingStory story{set_of(2)};
  story.scale(0, 4, 2s);
  story.all.clear();
  story.take(story.supervisor.on(RestartAsked{}, at(3s)), 3s);
  EXPECT_EQ(story.took<SendSignal>().size(), 2u);
  for (const int number : {0, 1}) story.ended(number, 4s, {.exit_code = 0, .signal = SIGTERM});
  story.all.clear();
  story.all_register(5s);
  EXPECT_EQ(story.took<StartProcess>().size(), 2u);
}

TEST(SupervisorScaling, ADeadEngineIsReplacedWhereOneIsNeeded) {
  ScalingStory story{set_of(1)};
  story.scale(1, 1, 2s);
  story.ended(0, 3s, killed);
  EXPECT_FALSE(story.supervisor.is_ended());
  story.all.clear();
  story.load(0, 5s);
  EXPECT_EQ(story.took<StartProcess>().size(), 1u);
}

TEST(SupervisorScaling, SaysWhyItCannot) {
  StartPlan plan = set_of(1);
  plan.plan_more = [](int, int) -> Result<std::vector<PlannedProcess>> {
    return Error{ErrorKind::unsupported, "ranks start together"};
  };
  ScalingStory story{plan};
  story.all.clear();
  story.scale(0, 3, 2s);
  const auto reports = story.took<ReportScale>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].report.problem, "ranks start together");
  EXPECT_EQ(reports[0].report.orders, 1);
  EXPECT_EQ(reports[0].report.scale, std::nullopt);
}

TEST(SupervisorScaling, IsEndedByAnOrder) {
  ScalingStory story{set_of(2)};
  story.scale(0, 2, 2s);
  story.all.clear();
  story.take(story.supervisor.on(ScaleAsked{{.is_off = true}}, at(3s)), 3s);
  const auto effects = story.all;
  EXPECT_EQ(story.took<WatchLoad>(), (std::vector{WatchLoad{false}}));
  story.all = effects;
  EXPECT_EQ(story.took<DrainEngines>(), (std::vector{DrainEngines{{"17/0", "17/1"}, false}}));
  story.load(0, 100s);
  EXPECT_TRUE(story.took<DrainEngines>().empty());
}

StartPlan respawning(int engines, int limit) {
  StartPlan plan = set_of(engines);
  plan.respawn_limit = limit;
  return plan;
}

TEST(SupervisorRespawn, StartsADeadEngineWhenItsIdIsFree) {
  ScalingStory story{respawning(2, 10)};
  const auto before = story.placed();
  story.all.clear();
  story.ended(1, 3s, killed);
  story.take(story.supervisor.on(EnginesCounted{2, {}, before}, at(3s)), 3s);
  EXPECT_TRUE(story.took<StartProcess>().empty());
  story.all_register(3s);  // the controller has noticed
  const auto started = story.took<StartProcess>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].command.environment.at("IPP_CONNECTION_INFO"),
            R"({"engine_ids":[0,1],"engine_set":"17"})");
}

TEST(SupervisorRespawn, TellsOfItAndRestoresVariables) {
  ScalingStory story{respawning(2, 10)};
  story.ended(1, 3s, killed);
  story.all_register(3s);
  story.all.clear();
  story.all_register(4s);
  const auto effects = story.all;
  EXPECT_EQ(story.took<RestoreVariables>(), (std::vector{RestoreVariables{{EngineId{1}}}}));
  story.all = effects;
  const auto events = story.took<TellEvent>();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, "respawned");
  story.all = effects;
  const auto report = story.took<ReportScale>().back().report;
  ASSERT_EQ(report.respawned.size(), 1u);
  EXPECT_EQ(report.respawned[0].id, 1);
  EXPECT_EQ(report.respawned[0].count, 1);
}

TEST(SupervisorRespawn, WaitsBecauseOfTheLimit) {
  ScalingStory story{respawning(2, 1)};
  story.ended(0, 3s, killed);
  story.all_register(3s);
  story.all_register(4s);
  story.ended(1, 5s, killed);
  EXPECT_EQ(story.took<ReportScale>().back().report.waiting, 1);
  EXPECT_EQ(story.supervisor.next_deadline(), at(63s));
  story.take(story.supervisor.on_time(at(63s)), 63s);
  story.all_register(63s);
  EXPECT_EQ(story.took<StartProcess>().size(), 1u);
}

TEST(SupervisorRespawn, StartsTheLastEngineAgain) {
  ScalingStory story{respawning(1, 10)};
  story.ended(0, 3s, killed);
  story.all.clear();
  story.all_register(3s);
  EXPECT_EQ(story.took<StartProcess>().size(), 1u);
}

TEST(SupervisorRespawn, LeavesAloneWhatWasMeantToEnd) {
  for (const os::ProcessEnd end : {os::ProcessEnd{}, os::ProcessEnd{.signal = SIGTERM}}) {
    ScalingStory story{respawning(2, 10)};
    story.all.clear();
    story.ended(1, 3s, end);
    story.all_register(4s);
    EXPECT_TRUE(story.took<StartProcess>().empty());
  }
}

TEST(SupervisorRespawn, AnEngineThatIsRestartedByHandDoesNotWaitAnyMore) {
  ScalingStory story{respawning(2, 1)};
  story.ended(0, 3s, killed);
  story.all_register(3s);
  story.all_register(4s);
  story.ended(1, 5s, killed);
  story.take(story.supervisor.on(RestartAsked{.numbers = {1}}, at(6s)), 6s);
  story.all_register(6s);
  story.all_register(7s);
  story.take(story.supervisor.on_time(at(100s)), 100s);
  EXPECT_EQ(story.starts[1], 2);
}

TEST(SupervisorRespawn, AFirstStartThatFailsAsAWholeIsAFailure) {
  Supervisor supervisor{respawning(1, 10)};
  supervisor.begin(at(0s));
  supervisor.on(ProcessStarted{controller_process, 10}, at(0s));
  supervisor.on(FilesReady{"{}"}, at(1s));
  supervisor.on(ProcessStarted{ProcessKey{0}, 20}, at(1s));
  supervisor.on(ProcessEnded{ProcessKey{0}, {.exit_code = 1}, "", "no such module"}, at(2s));
  bool ends_the_controller = false;
  for (const Effect& effect : supervisor.on(ProcessEnded{controller_process, {}, "", ""}, at(3s)))
    if (const auto* end = std::get_if<EndRun>(&effect)) ends_the_controller = end->exit_code == 1;
  EXPECT_TRUE(ends_the_controller);
}

/// An engine of another host that a watcher has started with others.
TEST(SupervisorRespawn, OrdersAWatcherToStartItsDeadEngine) {
  StartPlan plan = respawning(1, 10);
  plan.engines.processes[0].engine_count = 3;
  plan.engines.processes[0].has_children = true;
  plan.engines.processes[0].command.has_reports = plan.engines.processes[0].command.takes_orders =
      true;
  Supervisor supervisor{plan};
  const auto placed = [](std::vector<int> numbers) {
    std::vector<PlacedEngine> engines;
    for (const int number : numbers)
      engines.push_back({EngineId{number}, "17", number, EngineUuid{std::to_string(number)}});
    return EnginesCounted{static_cast<int>(engines.size()), {}, engines};
  };
  supervisor.begin(at(0s));
  supervisor.on(ProcessStarted{controller_process, 10}, at(0s));
  supervisor.on(FilesReady{"{}"}, at(1s));
  supervisor.on(ProcessStarted{ProcessKey{0}, 20}, at(1s));
  supervisor.on(placed({0, 1, 2}), at(2s));
  supervisor.on(ProcessReported{ProcessKey{0}, Level::warning, "engine 1 was killed", 2}, at(3s));
  supervisor.on(placed({0, 1, 2}), at(3s));
  supervisor.on(placed({0, 2}), at(3s));
  supervisor.on_time(at(3s));
  std::vector<OrderRestart> orders;
  for (const Effect& effect : supervisor.on(placed({0, 2}), at(3s)))
    if (const auto* order = std::get_if<OrderRestart>(&effect)) orders.push_back(*order);
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].order.engines, (std::vector{1}));
}

}  // namespace
}  // namespace px::cluster
