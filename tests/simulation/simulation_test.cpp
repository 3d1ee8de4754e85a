#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "tests/simulation/call_cluster.hpp"
#include "tests/simulation/simulated_cluster.hpp"

namespace px::simulation {
namespace {

constexpr std::uint64_t most_seeds = 500;  // until a planted defect is found
using controller::JournalMode;

using Simulate = Outcome (*)(const Setting&);

/// The first sentence about what did not hold, of any seed; empty: all held.
std::string first_violation(Setting setting, Simulate run = simulate,
                            std::uint64_t seeds = PX_SIMULATION_SEEDS) {
  for (setting.seed = 1; setting.seed <= seeds; ++setting.seed)
    if (const Outcome outcome = run(setting); outcome.violation)
      return *outcome.violation + " (seed " + std::to_string(setting.seed) + ")";
  return "";
}

TEST(Simulation, EachTaskIsAnsweredOnceWhateverHappens) {
  EXPECT_EQ(first_violation({.hwm = 1, .ahead = 0}), "");
}

TEST(Simulation, TheSameHoldsForEnginesThatHoldSeveralTasks) {
  EXPECT_EQ(first_violation({.hwm = 3, .ahead = 0}), "");
}

TEST(Simulation, TheSameHoldsWhereTasksAreGivenAheadAndRecalled) {
  EXPECT_EQ(first_violation({.hwm = 1, .ahead = 1}), "");
  EXPECT_EQ(first_violation({.hwm = 2, .ahead = 3}), "");
}

TEST(Simulation, WhatAJournalHasOutlivesTheController) {
  EXPECT_EQ(first_violation({.journal = JournalMode::process}), "");
}

TEST(Simulation, WhatAJournalHasOutlivesALossOfPower) {
  EXPECT_EQ(first_violation({.hwm = 2, .journal = JournalMode::power}), "");
}

TEST(Simulation, AReplyThatComesAfterItsTaskWasGivenUpIsNotPassedOn) {
  EXPECT_EQ(simulate({.seed = 207'738, .journal = JournalMode::power}).violation, std::nullopt);
}

void expect_right(Setting setting, std::initializer_list<std::uint64_t> seeds) {
  for (const std::uint64_t seed : seeds) {
    setting.seed = seed;
    EXPECT_EQ(simulate(setting).violation, std::nullopt) << "seed " << seed;
  }
}

TEST(Simulation, AnEngineKnowsATaskAgainWhichANewControllerGivesItInAnEarlierForm) {
  expect_right({.hwm = 0, .journal = JournalMode::process}, {1'020'115, 1'050'514});
  expect_right({.hwm = 0, .queue = 8, .journal = JournalMode::process}, {1'008'521, 1'038'198});
  expect_right({.hwm = 0, .journal = JournalMode::power}, {1'020'200, 1'050'498});
  expect_right({.hwm = 0, .queue = 8, .journal = JournalMode::power}, {1'009'592, 1'035'739});
}

TEST(Simulation, NothingIsGivenToAnEngineBeforeWhatWaitsForTheEndOfTheStocktaking) {
  EXPECT_EQ(simulate({.seed = 1'040'500, .hwm = 1}).violation, std::nullopt);
  EXPECT_EQ(simulate({.seed = 1'061'142, .hwm = 2, .journal = JournalMode::process}).violation,
            std::nullopt);
}

TEST(Simulation, WhereATaskIsNotAnsweredThereIsItsLatestAttempt) {
  EXPECT_EQ(simulate({.seed = 2'002'073, .hwm = 0, .journal = JournalMode::power}).violation,
            std::nullopt);
}

TEST(Simulation, AFailureThatCameBeforeItsTaskWasAskedForAgainCountsOnce) {
  expect_right({.engines = 1,
                .tasks = 100,
                .hwm = 0,
                .queue = 8,
                .faults = 6,
                .clients = 5,
                .journal = JournalMode::process},
               {7'082'183, 7'082'231, 7'082'364, 7'082'886});
}

TEST(Simulation, TheSameHoldsWhereTasksWaitInFilesForTheQueue) {
  EXPECT_EQ(first_violation({.queue = 5}), "");
  EXPECT_EQ(first_violation({.hwm = 2, .queue = 8, .journal = JournalMode::process}), "");
}

TEST(Simulation, TheSameHoldsForTasksOfSeveralRanksAndTasksThatNeedResults) {
  EXPECT_EQ(first_violation({.gangs = 30, .dependents = 30}), "");
  EXPECT_EQ(first_violation(
                {.engines = 6, .hwm = 2, .ahead = 3, .queue = 8, .gangs = 40, .dependents = 20}),
            "");
  EXPECT_EQ(first_violation({.gangs = 30, .dependents = 30, .journal = JournalMode::process}), "");
  EXPECT_EQ(first_violation({.gangs = 20, .dependents = 40, .journal = JournalMode::power}), "");
}

// Seeds that showed defects:
TEST(Simulation, ARankThatGetsItsTaskAfterTheTaskHasFailedIsInterrupted) {
  expect_right({.gangs = 30, .dependents = 30}, {75});
}

TEST(Simulation, AReplyToAnEarlierAttemptDoesNotEndALaterOneOfSeveralRanks) {
  expect_right({.queue = 8, .gangs = 40, .dependents = 40}, {517});
  expect_right({.queue = 5, .gangs = 60, .journal = JournalMode::process}, {1146});
}

TEST(Simulation, WhatALostControllerGaveToAnEngineDependsOnNothing) {
  expect_right({.dependents = 50, .journal = JournalMode::process}, {889});
}

TEST(Simulation, ANewControllerLetsNoRankWaitForOneThatNeverBegins) {
  expect_right({.gangs = 30}, {6});
  expect_right({.engines = 6, .hwm = 2, .ahead = 3, .queue = 8, .gangs = 40}, {3238});
}

TEST(Simulation, EachCallRunsOnceAndIsAnsweredOnceWhateverHappens) {
  EXPECT_EQ(first_violation({}, simulate_calls), "");
}

TEST(Simulation, CallsInAJournalOutliveTheController) {
  EXPECT_EQ(first_violation({.journal = JournalMode::process}, simulate_calls), "");
}

TEST(Simulation, CallsInAJournalOutliveALossOfPower) {
  EXPECT_EQ(first_violation({.journal = JournalMode::power}, simulate_calls), "");
}

TEST(Simulation, OneSeedIsOneStory) {
  EXPECT_EQ(simulate({.seed = 7}).story, simulate({.seed = 7}).story);
  EXPECT_NE(simulate({.seed = 7}).story, simulate({.seed = 8}).story);
}

TEST(Simulation, AllKindsOfHarmAreDone) {
  Outcome sum;
  sum.controllers = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Outcome outcome =
        simulate({.seed = seed, .queue = 8, .journal = JournalMode::power});
    sum.controllers += outcome.controllers - 1;
    sum.deaths += outcome.deaths;
    sum.cuts += outcome.cuts;
    sum.power_losses += outcome.power_losses;
    sum.full_disks += outcome.full_disks;
    sum.left += outcome.left;
    sum.fetched += outcome.fetched;
    sum.recalls += outcome.recalls;
    sum.waited += outcome.waited;
  }
  for (const int each : {sum.controllers, sum.deaths, sum.cuts, sum.power_losses, sum.full_disks,
                         sum.left, sum.fetched, sum.recalls, sum.waited})
    EXPECT_GT(each, 10);
}

TEST(Simulation, ManyTasksHaveSeveralRanksOrNeedResults) {
  Outcome sum;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    const Outcome outcome = simulate({.seed = seed, .gangs = 30, .dependents = 30});
    sum.gang_runs += outcome.gang_runs;
    sum.interrupts += outcome.interrupts;
    sum.dependent_runs += outcome.dependent_runs;
  }
  for (const int each : {sum.gang_runs, sum.interrupts, sum.dependent_runs}) EXPECT_GT(each, 40);
}

struct Planted {
  Defect defect;
  const char* found;  // a part of the sentence
  JournalMode journal = JournalMode::off;
  std::size_t queue = 1'000'000;
  int gangs = 0, dependents = 0;
};

class PlantedDefect : public testing::TestWithParam<Planted> {};
class PlantedDefectOfCalls : public testing::TestWithParam<Planted> {};

TEST_P(PlantedDefect, IsFound) {
  const std::string found = first_violation({.queue = GetParam().queue,
                                             .gangs = GetParam().gangs,
                                             .dependents = GetParam().dependents,
                                             .journal = GetParam().journal,
                                             .defect = GetParam().defect},
                                            simulate, most_seeds);
  EXPECT_NE(found.find(GetParam().found), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Simulation, PlantedDefect,
    testing::Values(
        Planted{Defect::client_forgets, "was never answered"},
        Planted{Defect::engine_runs_again, "engine"}, Planted{Defect::no_stocktaking, " has it"},
        Planted{Defect::no_reconnection, "was never answered"},
        Planted{Defect::client_waits_on, "was never answered"},
        Planted{Defect::replies_are_not_kept, "was never answered"},
        Planted{Defect::queue_is_overfilled, "was given 3 tasks"},
        Planted{Defect::engine_keeps_what_it_gives, "tasks at a time"},
        Planted{Defect::returns_are_ignored, "was never answered"},
        Planted{Defect::deaths_go_unnoticed, "was never answered"},
        Planted{Defect::client_takes_any_reply, "was answered twice"},
        Planted{Defect::journal_is_not_read, "there is no result of it", JournalMode::process},
        Planted{Defect::submissions_are_lost, "there is no result of it", JournalMode::process},
        Planted{Defect::answers_are_lost, "though it was answered", JournalMode::process},
        Planted{Defect::assignments_are_lost, "though it has no retries", JournalMode::process},
        Planted{Defect::answers_are_changed, "is not the one", JournalMode::process},
        Planted{Defect::backlog_is_overtaken, "after a task that came later", JournalMode::off, 5},
        Planted{
            .defect = Defect::dependencies_are_ignored, .found = "runs before", .dependents = 30},
        Planted{.defect = Defect::ranks_are_not_interrupted,
                .found = "was never answered",
                .gangs = 30},
        Planted{Defect::disk_lies, " though it ", JournalMode::power}));

TEST_P(PlantedDefectOfCalls, IsFound) {
  const std::string found = first_violation(
      {.journal = GetParam().journal, .defect = GetParam().defect}, simulate_calls, most_seeds);
  EXPECT_NE(found.find(GetParam().found), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Simulation, PlantedDefectOfCalls,
    testing::Values(
        Planted{Defect::client_forgets, "was never answered"},
        Planted{Defect::client_waits_on, "was never answered"},
        Planted{Defect::no_reconnection, "was never answered"},
        Planted{Defect::deaths_go_unnoticed, "was never answered"},
        Planted{Defect::engine_runs_again, "runs again"},
        Planted{Defect::calls_are_overtaken, "which was submitted earlier"},
        Planted{Defect::client_takes_any_reply, "was answered twice"},
        Planted{Defect::journal_is_not_read, "there is no result of it", JournalMode::process},
        Planted{Defect::submissions_are_lost, "there is no result of it", JournalMode::process},
        Planted{Defect::answers_are_lost, "is not the one", JournalMode::process},
        Planted{Defect::owed_is_not_asked_for, "there is no result of it", JournalMode::process},
        Planted{Defect::gathered_is_forgotten, "was gathered 0 times", JournalMode::process},
        Planted{Defect::missing_engines_are_awaited, "is still awaited", JournalMode::process},
        Planted{Defect::late_output_is_not_written, "lack what", JournalMode::process},
        Planted{Defect::disk_lies, "there is no result of it", JournalMode::power}));

}  // namespace
}  // namespace px::simulation
