#include "cluster/supervise/scaler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace px::cluster {
namespace {

using namespace std::chrono_literals;
using Positions = std::vector<std::size_t>;

Instant at(Duration time) {
  return Instant{} + time;
}

/// A set of units with one engine each, of which the scaler's orders are carried out at once.
struct ScaledSet {
  explicit ScaledSet(int count, ScaleWish wish) {
    for (int i = 0; i < count; ++i) units.push_back({.first = i});
    scaler.wish(wish);
  }
  void run(std::initializer_list<std::size_t> positions) {
    for (const std::size_t i : positions) {
      units[i].state = UnitState::running;
      work[i] = {static_cast<int>(i), EngineUuid{"engine-" + std::to_string(i)}};
    }
  }
  ScaleSteps report(Duration when, std::size_t waiting = 0) {
    ClusterLoad load{waiting};
    for (const auto& [i, engine] : work) load.engines.push_back(engine);
    ScaleSteps steps = scaler.decide(load, units, at(when));
    for (const std::size_t i : steps.start) run({i});
    for (const std::size_t i : steps.end) end(i);
    return steps;
  }
  void end(std::size_t i) {
    units[i].state = UnitState::absent;
    work.erase(i);
  }
  Scaler scaler;
  std::vector<ScaleUnit> units;
  std::map<std::size_t, EngineLoad> work;
};

TEST(Scaler, StartsEnginesAtOnceIfThereIsNoneForTheTasks) {
  ScaledSet set{8, {0, 8}};
  EXPECT_TRUE(set.report(0s).is_empty());
  EXPECT_EQ(set.report(1s, 3).start, (Positions{0, 1, 2}));
}

TEST(Scaler, StartsNoMoreThanTheMost) {
  ScaledSet set{8, {0, 4}};
  EXPECT_EQ(set.report(1s, 100).start, (Positions{0, 1, 2, 3}));
  set.work[0].tasks = 1;
  EXPECT_TRUE(set.report(2s, 100).is_empty());
  EXPECT_TRUE(set.report(3s, 100).is_empty());
}

TEST(Scaler, StartsTheLeastWithoutAnyWork) {
  ScaledSet set{8, {2, 8}};
  EXPECT_EQ(set.report(1s).start, (Positions{0, 1}));
}

TEST(Scaler, BesideRunningEnginesStartsMoreOnlyIfTasksStillWaitAtTheNextReport) {
  ScaledSet set{8, {0, 8}};
  set.run({0, 1});
  set.work[0].tasks = set.work[1].tasks = 1;
  EXPECT_TRUE(set.report(1s, 2).is_empty());
  EXPECT_EQ(set.report(1200ms, 2).start, (Positions{2, 3}));
}

TEST(Scaler, CountsFreeEnginesBeforeItStartsMore) {
  ScaledSet set{8, {0, 8}};
  set.run({0, 1, 2});
  set.work[0].tasks = 1;
  EXPECT_TRUE(set.report(1s, 2).is_empty());
  EXPECT_TRUE(set.report(2s, 2).is_empty());
}

TEST(Scaler, EndsAnIdleEngineInTwoSteps) {
  ScaledSet set{2, {0, 2, 30s}};
  set.run({0});
  EXPECT_TRUE(set.report(0s).is_empty());
  EXPECT_TRUE(set.report(29s).is_empty());
  const ScaleSteps first = set.report(30s);
  EXPECT_EQ(first.drain, (Positions{0}));
  EXPECT_TRUE(first.end.empty());
  EXPECT_EQ(set.report(31s).end, (Positions{0}));
}

TEST(Scaler, GivesADrainedEngineItsTasksAgainIfItGotWorkInTheMeantime) {
  for (const bool is_answered : {false, true}) {
    ScaledSet set{2, {0, 2, 30s}};
    set.run({0});
    set.report(0s);
    ASSERT_EQ(set.report(30s).drain, (Positions{0}));
    (is_answered ? set.work[0].completed : set.work[0].direct) = 1;
    const ScaleSteps steps = set.report(31s);
    EXPECT_EQ(steps.resume, (Positions{0}));
    EXPECT_TRUE(steps.end.empty());
  }
}

TEST(Scaler, GivesADrainedEngineItsTasksAgainIfTasksWait) {
  ScaledSet set{2, {0, 2, 30s}};
  set.run({0});
  set.report(0s);
  set.report(30s);
  EXPECT_EQ(set.report(31s, 1).resume, (Positions{0}));
}

TEST(Scaler, NeverEndsABusyEngine) {
  for (std::size_t EngineLoad::*work : {&EngineLoad::tasks, &EngineLoad::direct}) {
    ScaledSet set{1, {0, 1, 1s}};
    set.run({0});
    set.work[0].*work = 1;
    for (Duration when = 0s; when < 100s; when += 1s) EXPECT_TRUE(set.report(when).is_empty());
  }
}

TEST(Scaler, ADirectCallKeepsItsEngineForTheIdleTime) {
  ScaledSet set{1, {0, 1, 30s}};
  set.run({0});
  set.report(0s);
  set.work[0].completed = 1;  // it began and ended between two reports
  set.report(20s);
  EXPECT_TRUE(set.report(49s).is_empty());
  EXPECT_EQ(set.report(50s).drain, (Positions{0}));
}

TEST(Scaler, KeepsTheLeastAndEndsTheHighestNumbers) {
  ScaledSet set{4, {2, 4, 10s}};
  set.run({0, 1, 2, 3});
  set.report(0s);
  EXPECT_EQ(set.report(10s).drain, (Positions{3, 2}));
  EXPECT_EQ(set.report(11s).end, (Positions{2, 3}));
  EXPECT_TRUE(set.report(60s).is_empty());
}

TEST(Scaler, KeepsAnIdleEngineForEachWaitingTask) {
  ScaledSet set{4, {0, 4, 10s}};
  set.run({0, 1, 2});
  set.report(0s);
  EXPECT_EQ(set.report(10s, 2).drain, (Positions{2}));
}

TEST(Scaler, AUnitOfSeveralEnginesEndsWhenAllAreIdle) {
  ScaledSet set{1, {0, 2, 10s}};
  set.run({0});
  set.units[0].count = 2;
  set.work[1] = {1, EngineUuid{"engine-1"}, 1};
  set.report(0s);
  EXPECT_TRUE(set.report(10s).is_empty());
  set.work[1].tasks = 0;
  set.report(11s);
  EXPECT_EQ(set.report(21s).drain, (Positions{0}));
}

TEST(Scaler, AUnitThatHasNotRegisteredIsNotEnded) {
  ScaledSet set{1, {0, 1, 0s}};
  set.run({0});
  set.work.clear();
  EXPECT_TRUE(set.report(100s).is_empty());
  EXPECT_TRUE(set.report(200s).is_empty());
}

TEST(Scaler, AUnitThatDoesNotFitIsNotStarted) {
  ScaledSet set{2, {0, 3}};
  set.run({0});
  set.units[0].count = 2;
  set.units[1] = {.first = 2, .count = 2};
  set.work[0].tasks = 1;
  set.work[1] = {1, EngineUuid{"engine-1"}, 1};
  set.report(0s, 9);
  EXPECT_TRUE(set.report(1s, 9).is_empty());
}

TEST(Scaler, AfterADeathItWaitsLongerEachTime) {
  ScaledSet set{1, {1, 1}};
  EXPECT_EQ(set.report(0s).start, (Positions{0}));
  set.end(0);
  set.scaler.died(at(1s));
  EXPECT_TRUE(set.report(1900ms).is_empty());
  EXPECT_EQ(set.report(2s).start, (Positions{0}));
  set.end(0);
  set.scaler.died(at(3s));
  EXPECT_TRUE(set.report(4900ms).is_empty());
  EXPECT_EQ(set.report(5s).start, (Positions{0}));
}

TEST(Scaler, DoesNotStartWhatAnotherRuleStartsAgain) {
  ScaledSet set{1, {1, 1}};
  set.units[0].state = UnitState::blocked;
  EXPECT_TRUE(set.report(0s).is_empty());
}

TEST(Scaler, DoesNothingWithoutAWish) {
  ScaledSet set{2, {1, 2}};
  set.scaler.stop();
  EXPECT_TRUE(set.report(0s, 5).is_empty());
}

/// With random work no engine that has work is ended, and there are never too many or too few.
TEST(Scaler, EndsNoBusyEngineUnderAnyWork) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    unsigned state = seed;
    const auto random = [&state](unsigned below) {
      state = state * 1664525u + 1013904223u;
      return (state >> 16) % below;
    };
    ScaledSet set{8, {static_cast<int>(seed % 3), 8, 2s}};
    Positions drained;
    for (int turn = 0; turn < 300; ++turn) {
      const std::size_t waiting = random(4) == 0 ? random(12) : 0;
      for (auto& [i, engine] : set.work) {
        const bool gets_tasks = std::count(drained.begin(), drained.end(), i) == 0;
        if (random(3) == 0) engine.completed += engine.tasks + engine.direct;
        if (random(2) == 0) engine.tasks = gets_tasks ? random(3) : 0;
        engine.direct = random(20) == 0 ? 1 : 0;
      }
      const auto before = set.work;
      const ScaleSteps steps = set.report(turn * 500ms, waiting);
      for (const std::size_t i : steps.end) {
        EXPECT_EQ(before.at(i).tasks + before.at(i).direct, 0u);
        EXPECT_EQ(std::count(drained.begin(), drained.end(), i), 1);
      }
      drained = steps.drain;
      EXPECT_LE(set.work.size(), 8u);
      EXPECT_GE(set.work.size(), seed % 3);
    }
  }
}

}  // namespace
}  // namespace px::cluster
