#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/simulation/simulated_cluster.hpp"

namespace px::simulation {
namespace {

constexpr std::uint64_t seeds = 300;

/// The first sentence about what did not hold, of any seed; empty: all held.
std::string first_violation(Setting setting, std::uint64_t most = seeds) {
  for (setting.seed = 1; setting.seed <= most; ++setting.seed)
    if (const Outcome outcome = simulate(setting); outcome.violation)
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

TEST(Simulation, OneSeedIsOneStory) {
  EXPECT_EQ(simulate({.seed = 7}).story, simulate({.seed = 7}).story);
  EXPECT_NE(simulate({.seed = 7}).story, simulate({.seed = 8}).story);
}

TEST(Simulation, AllKindsOfHarmAreDone) {
  int controllers = 0, deaths = 0, cuts = 0, recalls = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = simulate({.seed = seed});
    controllers += outcome.controllers - 1;
    deaths += outcome.deaths;
    cuts += outcome.cuts;
    recalls += outcome.recalls;
  }
  EXPECT_GT(controllers, 10);
  EXPECT_GT(deaths, 10);
  EXPECT_GT(cuts, 10);
  EXPECT_GT(recalls, 10);
}

struct Planted {
  Defect defect;
  const char* found;  // a part of the sentence
};

class PlantedDefect : public testing::TestWithParam<Planted> {};

TEST_P(PlantedDefect, IsFound) {
  const std::string found = first_violation({.defect = GetParam().defect});
  EXPECT_NE(found.find(GetParam().found), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Simulation, PlantedDefect,
    testing::Values(Planted{Defect::client_forgets, "was never answered"},
                    Planted{Defect::engine_runs_again, "engine"},
                    Planted{Defect::no_stocktaking, " has it"},
                    Planted{Defect::no_reconnection, "was never answered"},
                    Planted{Defect::client_waits_on, "was never answered"},
                    Planted{Defect::replies_are_not_kept, "was never answered"},
                    Planted{Defect::queue_is_overfilled, "was given 3 tasks"},
                    Planted{Defect::engine_keeps_what_it_gives, " has it"},
                    Planted{Defect::returns_are_ignored, "was never answered"},
                    Planted{Defect::deaths_go_unnoticed, "was never answered"},
                    Planted{Defect::client_takes_any_reply, "was answered twice"}));

}  // namespace
}  // namespace px::simulation
