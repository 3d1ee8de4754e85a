#include "controller/membership/death_judge.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant{} + 100s + time;
}

const EngineUuid ann{"ann"}, bob{"bob"}, cat{"cat"};

EngineFacts rank(int number, const std::string& world = "Open MPI 7 of 3") {
  EngineFacts facts;
  facts.host = "host1";
  facts.rank = Rank{number};
  facts.world = world;
  facts.is_watched = true;
  return facts;
}

EngineFacts alone(bool is_watched) {
  EngineFacts facts;
  facts.is_watched = is_watched;
  return facts;
}

DeathReport ended(int exit_code, int signal = 0) {
  DeathReport report;
  report.exit_code = exit_code;
  report.signal = signal;
  return report;
}

struct DeathJudgeTest : testing::Test {
  DeathJudge judge{2s};
};

TEST_F(DeathJudgeTest, AnEngineWhoseConnectionEndsIsGivenUpAfterTheGrace) {
  judge.connection_lost(ann, alone(false), 250ms, at(0s));
  EXPECT_EQ(judge.next_deadline(), at(250ms));
  EXPECT_TRUE(judge.take_due(at(249ms)).empty());
  EXPECT_EQ(judge.take_due(at(250ms)),
            (std::vector{Death{ann, "its process exited", "its process exited", false, true}}));
  EXPECT_FALSE(judge.next_deadline());
}

TEST_F(DeathJudgeTest, AnEngineThatConnectsAgainIsNotGivenUp) {
  judge.connection_lost(ann, alone(false), 250ms, at(0s));
  judge.connection_back(ann);
  EXPECT_TRUE(judge.take_due(at(9s)).empty());
}

TEST_F(DeathJudgeTest, AWatchedEngineIsGivenUpWithTheReasonAsSoonAsItIsTold) {
  judge.connection_lost(ann, alone(true), 250ms, at(0s));
  EXPECT_TRUE(judge.take_due(at(1s)).empty());
  judge.reported(ann, EngineId{0}, alone(true), ended(3), at(1s));
  EXPECT_EQ(judge.take_due(at(1s)),
            (std::vector{Death{ann, "its process exited with code 3", "exit code 3"}}));
}

TEST_F(DeathJudgeTest, AWatchedEngineOfWhichNothingIsToldIsGivenUpAllTheSame) {
  judge.connection_lost(ann, alone(true), 250ms, at(0s));
  EXPECT_EQ(judge.take_due(at(2s)).size(), 1u);
}

TEST_F(DeathJudgeTest, TheReasonMayComeBeforeTheConnectionEnds) {
  judge.reported(ann, EngineId{0}, alone(true), ended(0, SIGSEGV), at(0s));
  judge.connection_lost(ann, alone(true), 250ms, at(0s));
  EXPECT_EQ(judge.take_due(at(0s)),
            (std::vector{Death{ann, "its process was killed by SIGSEGV: a crash in compiled code",
                               "SIGSEGV"}}));
}

TEST_F(DeathJudgeTest, TheFirstRankThatDiedIsTheReasonOfTheOthers) {
  judge.reported(cat, EngineId{2}, rank(2), ended(3), at(0s));
  EXPECT_EQ(
      judge.take_due(at(0s)),
      (std::vector{Death{cat, "its process, MPI rank 2, exited with code 3", "exit code 3"}}));
  judge.terminated(ann, rank(0), at(1s));
  judge.connection_lost(bob, rank(1), 250ms, at(1s));
  const std::string why =
      "its MPI launcher ended it, as MPI rank 2 (engine 2 on host1) died first: it exited with "
      "code 3";
  EXPECT_EQ(judge.take_due(at(1s)), (std::vector{Death{ann, why, "SIGTERM", true},
                                                 Death{bob, why, "its process exited", true}}));
}

TEST_F(DeathJudgeTest, TheNewsOfTheFirstRankMayComeLast) {
  judge.terminated(ann, rank(0), at(0s));
  judge.reported(bob, EngineId{1}, rank(1), ended(0, SIGTERM), at(0s));
  EXPECT_TRUE(judge.take_due(at(0s)).empty());
  judge.reported(cat, EngineId{2}, rank(2), ended(0, SIGKILL), at(10ms));
  const auto deaths = judge.take_due(at(10ms));
  ASSERT_EQ(deaths.size(), 3u);
  EXPECT_EQ(deaths[0].uuid, cat);
  EXPECT_TRUE(deaths[1].why.starts_with("its MPI launcher ended it, as MPI rank 2"))
      << deaths[1].why;
  EXPECT_TRUE(deaths[2].why.starts_with("its MPI launcher ended it, as MPI rank 2"))
      << deaths[2].why;
}

TEST_F(DeathJudgeTest, RanksThatCrashTogetherHaveReasonsOfTheirOwn) {
  judge.reported(ann, EngineId{0}, rank(0), ended(0, SIGSEGV), at(0s));
  judge.reported(bob, EngineId{1}, rank(1), ended(0, SIGSEGV), at(0s));
  const auto deaths = judge.take_due(at(0s));
  EXPECT_TRUE(deaths[1].why.starts_with("its process, MPI rank 1, was killed by SIGSEGV"));
}

TEST_F(DeathJudgeTest, ARankThatIsKilledAfterSigtermWasEndedBySigterm) {
  judge.terminates(ann, rank(0), at(0s));
  EXPECT_FALSE(judge.next_deadline());  // it lives
  judge.connection_lost(ann, rank(0), 250ms, at(1s));
  judge.connection_lost(bob, rank(1), 250ms, at(1s));
  judge.terminates(bob, rank(1), at(1s));
  const auto deaths = judge.take_due(at(6s));
  ASSERT_EQ(deaths.size(), 2u);
  for (const Death& death : deaths) {
    EXPECT_NE(death.why.find("was ended by SIGTERM"), std::string::npos) << death.why;
    EXPECT_TRUE(death.is_unexplained);
  }
}

TEST_F(DeathJudgeTest, WhatTheBatchSystemSaysIsTheReasonOfAllRanks) {
  judge.terminated(ann, rank(0), at(0s));
  judge.world_ends(rank(0), "Slurm job 7 was cancelled", at(100ms));
  judge.terminated(bob, rank(1), at(100ms));
  const std::string why = "its MPI launcher ended it, as Slurm job 7 was cancelled";
  EXPECT_EQ(judge.take_due(at(100ms)),
            (std::vector{Death{ann, why, "SIGTERM", true}, Death{bob, why, "SIGTERM", true}}));
}

TEST_F(DeathJudgeTest, ARankThatEndsTogetherWithItsWatcherIsTheReasonOfTheOthers) {
  judge.connection_lost(cat, rank(2), 250ms, at(0s));
  judge.terminated(ann, rank(0), at(100ms));
  judge.connection_lost(bob, rank(1), 250ms, at(1500ms));  // killed by the launcher
  const auto deaths = judge.take_due(at(2s));
  ASSERT_EQ(deaths.size(), 3u);
  EXPECT_EQ(deaths[0], (Death{cat, "its process, MPI rank 2, exited", "its process exited"}));
  const std::string why =
      "its MPI launcher ended it, as MPI rank 2 on host1 and its parent pxengine died first: both "
      "were killed, or their host crashed";
  EXPECT_EQ(deaths[1], (Death{ann, why, "SIGTERM", true}));
  EXPECT_EQ(deaths[2], (Death{bob, why, "its process exited", true}));
}

TEST_F(DeathJudgeTest, RanksThatAreAllTerminatedHaveNoFirst) {
  judge.terminated(ann, rank(0), at(0s));
  judge.terminated(bob, rank(1), at(0s));
  EXPECT_TRUE(judge.take_due(at(0s)).empty());
  const auto deaths = judge.take_due(*judge.next_deadline());
  ASSERT_EQ(deaths.size(), 2u);
  EXPECT_TRUE(deaths[0].is_unexplained && deaths[1].is_unexplained);
  EXPECT_EQ(
      deaths[1].why,
      "its process, MPI rank 1, was ended by SIGTERM: by its launcher, by the batch system or "
      "by hand");
}

TEST_F(DeathJudgeTest, ARankWhoseLauncherDoesNotLearnOfItsEndIsNoReasonOfOthers) {
  DeathReport hidden = ended(0, SIGKILL);
  hidden.is_hidden = true;
  judge.reported(cat, EngineId{2}, rank(2), hidden, at(0s));
  EXPECT_EQ(judge.take_due(at(0s)).at(0).how, "SIGKILL");
  judge.reported(bob, EngineId{1}, rank(1), hidden, at(1s));
  const auto deaths = judge.take_due(at(1s));
  EXPECT_TRUE(deaths.at(0).why.starts_with("its process, MPI rank 1, was killed by SIGKILL"));
}

TEST_F(DeathJudgeTest, RanksWhoseEndIsExpectedAreGivenUpAtOnceHoweverTheyEnd) {
  const std::string why = "pxcluster ended it for a restart";
  for (const EngineUuid& uuid : {ann, bob, cat}) judge.expect_end(uuid, why, at(0s));
  EXPECT_FALSE(judge.next_deadline());  // they live
  judge.terminated(ann, rank(0), at(1s));
  judge.reported(bob, EngineId{1}, rank(1), ended(0, SIGKILL), at(1s));
  judge.connection_lost(cat, rank(2), 10s, at(1s));
  EXPECT_EQ(judge.take_due(at(1s)),
            (std::vector{Death{ann, why}, Death{bob, why}, Death{cat, why}}));
}

TEST_F(DeathJudgeTest, AnEndMayBeginBeforeItIsSaidToBeExpected) {
  judge.terminated(ann, rank(0), at(0s));
  judge.connection_lost(bob, rank(1), 250ms, at(0s));
  judge.reported(cat, EngineId{2}, rank(2, "Open MPI 8 of 3"), ended(3), at(0s));
  for (const EngineUuid& uuid : {ann, bob, cat}) judge.expect_end(uuid, "it was stopped", at(10ms));
  const auto deaths = judge.take_due(at(10ms));
  ASSERT_EQ(deaths.size(), 3u);
  EXPECT_EQ(deaths[0].why, "its process, MPI rank 2, exited with code 3");
  EXPECT_EQ(deaths[1].why, "it was stopped");
  EXPECT_EQ(deaths[2].why, "it was stopped");
}

TEST_F(DeathJudgeTest, OtherWorldsAndEnginesOutsideOfMpiAreNotDrawnIn) {
  judge.reported(cat, EngineId{2}, rank(2), ended(3), at(0s));
  judge.terminated(ann, rank(0, "Open MPI 8 of 3"), at(0s));
  judge.terminated(bob, alone(true), at(0s));
  const auto deaths = judge.take_due(at(5s));
  for (const Death& death : deaths) EXPECT_EQ(death.why.find("died first"), std::string::npos);
}

TEST_F(DeathJudgeTest, AWorldThatStartsAnewHasNoReasonOfItsOldOne) {
  judge.reported(cat, EngineId{2}, rank(2), ended(3), at(0s));
  judge.take_due(at(0s));
  judge.joined(rank(2));
  judge.connection_lost(ann, rank(0), 250ms, at(1s));
  EXPECT_EQ(judge.take_due(at(9s)).at(0).why, "its process, MPI rank 0, exited");
}

TEST_F(DeathJudgeTest, NamesTheLatestMeasuredMemoryOfAnEngineThatDied) {
  judge.measured(ann, 3'000'000);
  judge.measured(ann, 300'000'000);
  judge.reported(ann, EngineId{0}, {}, ended(0, SIGSEGV), at(1s));
  const std::string why = judge.take_due(at(1s)).at(0).why;
  EXPECT_TRUE(why.ends_with("; it used 286 MiB of memory when last measured")) << why;
}

TEST(DeathText, NamesAWantOfMemoryWhereItIsKnown) {
  DeathReport report = ended(0, SIGKILL);
  EXPECT_EQ(
      death_text(report, std::nullopt),
      "its process was killed by SIGKILL: by kill -9, or because the system was out of memory");
  report.is_out_of_memory = false;
  EXPECT_EQ(death_text(report, std::nullopt),
            "its process was killed by SIGKILL: by kill -9, or by its launcher");
  report.is_out_of_memory = true;
  EXPECT_TRUE(death_text(report, std::nullopt)
                  .starts_with("its process was killed by the kernel, which was out of memory"));
}

TEST(DeathText, EndsWithTheLastLinesOfTheLog) {
  DeathReport report = ended(1);
  report.log = "/log/0";
  report.last_lines = "one\ntwo";
  EXPECT_EQ(
      death_text(report, std::nullopt),
      "its process exited with code 1; the last lines of its log, /log/0:\n    | one\n    | two");
}

}  // namespace
}  // namespace px::controller
