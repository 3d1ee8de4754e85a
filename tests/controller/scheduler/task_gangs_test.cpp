// How TaskQueue treats tasks of several ranks.

#include <gtest/gtest.h>

#include "tests/controller/task_queue_fixture.hpp"

namespace px::controller {
namespace {

/// Four idle engines of one world: e0 to e3.
class Gangs : public testing::Test {
 protected:
  explicit Gangs(TaskQueueOptions wanted = {}) : cluster_(wanted) {
    for (int rank = 0; rank < 4; ++rank) cluster_.join_world("e" + std::to_string(rank), rank);
  }
  /// All engines that run this task succeed, in the order of their names.
  Texts succeed(const std::string& id, const Texts& engines) {
    Texts all;
    for (const std::string& engine : engines)
      for (const std::string& text : cluster_.reply(engine, id)) all.push_back(text);
    return all;
  }

  Cluster cluster_;
};

TEST_F(Gangs, ATaskStartsOnAllItsRanksAndItsResultIsThatOfTheFirstOne) {
  EXPECT_EQ(cluster_.submit("t1", ranks(2)), (Texts{"t1>e0", "t1>e1"}));
  EXPECT_EQ(cluster_.last_gang().engines, (std::vector{EngineUuid{"e0"}, EngineUuid{"e1"}}));
  EXPECT_EQ(cluster_.last_gang().communicator.ranks, (std::vector{0, 1}));
  EXPECT_EQ(cluster_.reply("e1", "t1"), Texts{});
  EXPECT_EQ(cluster_.reply("e0", "t1"), (Texts{"t1=e0"}));
  EXPECT_EQ(cluster_.queue().size(), 0u);
}

TEST_F(Gangs, AnEngineThatHasRepliedIsFree) {
  cluster_.submit("t1", ranks(4));
  cluster_.submit("t2", ranks(2));
  EXPECT_EQ(cluster_.reply("e2", "t1"), Texts{});
  EXPECT_EQ(cluster_.reply("e1", "t1"), (Texts{"t2>e1", "t2>e2"}));
  EXPECT_EQ(cluster_.last_gang().communicator.ranks, (std::vector{1, 2}));
  EXPECT_EQ(succeed("t1", {"e0", "e3"}), (Texts{"t1=e0"}));
}

TEST_F(Gangs, TasksOfOneRankFillTheEnginesThatAreLeft) {
  EXPECT_EQ(cluster_.submit("t1", ranks(3)), (Texts{"t1>e0", "t1>e1", "t1>e2"}));
  EXPECT_EQ(cluster_.submit("t2", ranks(2)), Texts{});
  EXPECT_EQ(cluster_.submit("t3"), (Texts{"t3>e3"}));
}

TEST_F(Gangs, ALargeTaskDoesNotWaitForEverWhileSmallOnesCome) {
  cluster_.submit("s1");
  cluster_.submit("large", ranks(4));
  cluster_.clock(10s);
  for (const char* later : {"s2", "s3", "s4"}) EXPECT_EQ(cluster_.submit(later), Texts{}) << later;
  EXPECT_EQ(cluster_.reply("e3", "s1"),
            (Texts{"s1=e3", "large>e0", "large>e1", "large>e2", "large>e3"}));
  // The last task of several ranks has started: others get engines as usual.
  EXPECT_EQ(succeed("large", {"e0", "e1", "e2", "e3"}),
            (Texts{"s2>e0", "s3>e1", "s4>e2", "large=e0"}));
}

TEST_F(Gangs, TasksOfOneRankStartWhenTheLastLargeOneHasTimedOut) {
  cluster_.submit("s1");
  TaskRules impatient = ranks(4);
  impatient.timeout = 5s;
  cluster_.submit("large", impatient);
  cluster_.clock(3s);
  EXPECT_EQ(cluster_.submit("s2"), Texts{});
  EXPECT_EQ(cluster_.clock(5s), (Texts{"large!TaskTimeout", "s2>e0"}));
}

TEST_F(Gangs, RanksUpToTheMostAreUsedIfNothingElseNeedsThem) {
  EXPECT_EQ(cluster_.submit("t1", ranks(2, 8)), (Texts{"t1>e0", "t1>e1", "t1>e2", "t1>e3"}));
  succeed("t1", {"e0", "e1", "e2", "e3"});
  EXPECT_EQ(cluster_.submit("t2", ranks(1, 2)), (Texts{"t2>e0", "t2>e1"}));
}

TEST_F(Gangs, ATaskThatNoWorldCanRunIsRefusedWithTheReason) {
  cluster_.join("alone");
  cluster_.join_world("other", 0, "v");
  EXPECT_EQ(cluster_.submit("t1", ranks(5)), (Texts{"t1!ImpossibleDependency"}));
  EXPECT_NE(cluster_.last_error().find("needs 5 ranks of one MPI world, and the largest world "
                                       "has 4"),
            std::string::npos);
  TaskRules rules = targets({"alone"});
  rules.ranks = {2, 2};
  EXPECT_EQ(cluster_.submit("t2", rules), (Texts{"t2!ImpossibleDependency"}));
  EXPECT_NE(cluster_.last_error().find("--engines=mpi"), std::string::npos);
}

TEST_F(Gangs, ACellAndATaskWithFollowHaveOneRank) {
  cluster_.submit("t1");
  TaskRules rules = follow(spec({"t1"}));
  rules.ranks = {2, 2};
  EXPECT_EQ(cluster_.submit("t2", rules), (Texts{"t2!ImpossibleDependency"}));
  EXPECT_NE(cluster_.last_error().find("`follow`"), std::string::npos);
}

TEST_F(Gangs, ATaskWaitsForThoseInItsAfter) {
  cluster_.submit("t1");
  TaskRules rules = after(spec({"t1"}));
  rules.ranks = {2, 2};
  EXPECT_EQ(cluster_.submit("t2", rules), Texts{});
  EXPECT_EQ(cluster_.reply("e3", "t1"), (Texts{"t1=e3", "t2>e0", "t2>e1"}));
}

TEST_F(Gangs, TargetsAreTheEnginesOfWhichTheGangConsists) {
  TaskRules rules = targets({"e1", "e2", "e3"});
  rules.ranks = {2, 2};
  EXPECT_EQ(cluster_.submit("t1", rules), (Texts{"t1>e1", "t1>e2"}));
}

TEST_F(Gangs, WithoutEnginesATaskWaitsForThem) {
  Cluster empty;
  EXPECT_EQ(empty.submit("t1", ranks(2)), Texts{});
  EXPECT_EQ(empty.join_world("e0", 0), Texts{});
  EXPECT_EQ(empty.join_world("e1", 1), (Texts{"t1>e0", "t1>e1"}));
}

// ---------------------------------------------------------------- communicators

TEST_F(Gangs, TheSameRanksUseTheirCommunicatorAgainUntilOneHasFailed) {
  cluster_.submit("t1", ranks(2));
  const auto first = cluster_.last_gang().communicator.number;
  succeed("t1", {"e0", "e1"});
  cluster_.submit("t2", ranks(2));
  EXPECT_EQ(cluster_.last_gang().communicator.number, first);
  cluster_.fails("e1", "t2");
  cluster_.reply("e0", "t2");
  cluster_.submit("t3", ranks(2));
  EXPECT_GT(cluster_.last_gang().communicator.number, first);
}

// ---------------------------------------------------------------- failures

TEST_F(Gangs, TheFirstFailureIsTheAnswerAndTheOthersAreInterrupted) {
  cluster_.submit("t1", ranks(3));
  EXPECT_EQ(cluster_.reply("e0", "t1"), Texts{});
  EXPECT_EQ(cluster_.fails("e2", "t1"), Texts{});
  EXPECT_EQ(cluster_.queue().next_deadline(), at(3s));
  EXPECT_EQ(cluster_.clock(2999ms), Texts{});
  EXPECT_EQ(cluster_.clock(3s), (Texts{"t1|e1"}));
  EXPECT_EQ(cluster_.clock(5999ms), Texts{});
  EXPECT_EQ(cluster_.clock(6s), (Texts{"t1|e1"}));  // the first one may have come before the task
  EXPECT_EQ(cluster_.fails("e1", "t1"), (Texts{"t1=e2"}));
}

TEST_F(Gangs, ARetryTakesAllRanksAgainAndSaysThatItIsOne) {
  cluster_.submit("t1", ranks(2, 2, 1));
  cluster_.submit("t2", ranks(4));
  cluster_.fails("e0", "t1");
  EXPECT_EQ(cluster_.fails("e1", "t1"), (Texts{"t2>e0", "t2>e1", "t2>e2", "t2>e3"}));
  cluster_.reply("e3", "t2");
  EXPECT_EQ(cluster_.reply("e2", "t2"), (Texts{"t1>e2 again", "t1>e3 again"}));
  EXPECT_EQ(cluster_.last_failures(), 1);
  cluster_.fails("e2", "t1");
  EXPECT_EQ(cluster_.fails("e3", "t1"), (Texts{"t1=e2"}));
}

TEST_F(Gangs, AReplyThatCameBeforeDoesNotEndTheNextAttempt) {
  cluster_.submit("t1", ranks(4, 4, 1));
  for (const char* engine : {"e0", "e1", "e2"}) cluster_.fails(engine, "t1");
  EXPECT_EQ(cluster_.fails("e3", "t1").size(), 4u);
  EXPECT_EQ(cluster_.reply_to("e3", "t1", 0, TaskOutcome::failed), Texts{});  // sent once more
  EXPECT_EQ(succeed("t1", {"e0", "e1", "e2"}), Texts{});
  EXPECT_EQ(cluster_.reply("e3", "t1"), Texts{"t1=e0"});
}

TEST_F(Gangs, ARankThatCannotRunItIsLeftOutWithoutAnAttempt) {
  cluster_.submit("t1", ranks(2));
  cluster_.unmet("e0", "t1");
  EXPECT_EQ(cluster_.fails("e1", "t1"), (Texts{"t1>e1 again", "t1>e2 again"}));
  EXPECT_EQ(cluster_.last_failures(), 0);
  EXPECT_EQ(succeed("t1", {"e1", "e2"}), (Texts{"t1=e1"}));
}

TEST_F(Gangs, TheDeathOfARankIsTheAnswerWhateverTheOthersSay) {
  cluster_.submit("t1", ranks(2));
  EXPECT_EQ(cluster_.fails("e0", "t1"), Texts{});
  EngineEnd end;
  end.is_dead = true;
  EXPECT_EQ(cluster_.leave("e1", end), Texts{});
  EXPECT_EQ(cluster_.clock(300ms), (Texts{"t1!EngineError"}));
  EXPECT_NE(cluster_.last_error().find("e1"), std::string::npos);
}

TEST_F(Gangs, TheOtherRanksAreInterruptedWhenOneHasDied) {
  cluster_.submit("t1", ranks(3));
  cluster_.leave("e1");
  EXPECT_EQ(cluster_.clock(5s), Texts{});
  EXPECT_EQ(cluster_.clock(8s), (Texts{"t1|e0", "t1|e2"}));
  cluster_.fails("e0", "t1");
  EXPECT_EQ(cluster_.fails("e2", "t1"), (Texts{"t1!EngineError"}));
}

TEST_F(Gangs, AReplyCountsWhoseEngineHasLeftSince) {
  cluster_.submit("t1", ranks(2));
  cluster_.reply("e0", "t1");
  cluster_.leave("e0");
  cluster_.clock(5s);
  EXPECT_EQ(cluster_.reply("e1", "t1"), (Texts{"t1=e0"}));
}

TEST_F(Gangs, ABrokenWorldRunsOnlyTasksOfOneRank) {
  cluster_.submit("t0", ranks(4));
  cluster_.submit("t1", ranks(2));
  EngineEnd end;
  end.is_dead = true;
  EXPECT_EQ(cluster_.leave("e3", end), (Texts{"t1!ImpossibleDependency"}));
  EXPECT_EQ(cluster_.submit("t2", ranks(2)), (Texts{"t2!ImpossibleDependency"}));
  cluster_.reply("e0", "t0");
  EXPECT_EQ(cluster_.submit("t3"), (Texts{"t3>e0"}));
}

TEST_F(Gangs, ASilentRankIsAwaited) {
  cluster_.submit("t1", ranks(2, 2, 1));
  EXPECT_EQ(cluster_.silent("e1"), Texts{});
  cluster_.reply("e0", "t1");
  EXPECT_EQ(cluster_.returned("e1"), Texts{});
  EXPECT_EQ(cluster_.reply("e1", "t1"), (Texts{"t1=e0"}));
}

TEST_F(Gangs, ARequestIsSentAgainToTheRankWhoseConnectionBroke) {
  cluster_.submit("t1", ranks(2));
  EXPECT_EQ(cluster_.reconnected("e1"), (Texts{"t1>e1 resent"}));
  cluster_.reply("e1", "t1");
  EXPECT_EQ(cluster_.reconnected("e1"), Texts{});
}

TEST_F(Gangs, ARankThatEndsBeforeItBeginsGivesTheTaskToAnotherGang) {
  cluster_.submit("t1", ranks(2));
  cluster_.ending("e0");
  EXPECT_EQ(cluster_.given_back("e0", "t1"), Texts{});
  EXPECT_EQ(cluster_.clock(3s), (Texts{"t1|e1"}));
  EXPECT_EQ(cluster_.fails("e1", "t1"), (Texts{"t1>e1 again", "t1>e2 again"}));
  EXPECT_EQ(cluster_.last_failures(), 0);
}

TEST_F(Gangs, AnAbortedTaskIsNotTriedAgain) {
  cluster_.submit("t1", ranks(2, 2, 3));
  cluster_.reply("e0", "t1", TaskOutcome::aborted);
  EXPECT_EQ(cluster_.reply("e1", "t1", TaskOutcome::aborted), (Texts{"t1=e0"}));
}

// ---------------------------------------------------------------- prefetched tasks

TEST(GangsAhead, PromisedEnginesGiveBackWhatTheyHoldAhead) {
  TaskQueueOptions ahead;
  ahead.ahead = 4;
  Cluster cluster{ahead};
  for (const int rank : {0, 1}) {
    const std::string engine = "e" + std::to_string(rank);
    cluster.queue().engine_placed(EngineUuid{engine}, {"w", rank, "h"});
    cluster.join_able(engine);
  }
  for (const char* first : {"a", "b"}) cluster.submit(first);
  cluster.reply("e1", "a");  // quick: it gets a further task ahead
  cluster.reply("e0", "b");
  for (const char* next : {"c", "d", "e"}) cluster.submit(next);
  const Texts recalled = cluster.submit("large", ranks(2));
  ASSERT_EQ(recalled.size(), 1u);
  EXPECT_EQ(recalled.front().substr(0, 2), "e<");
  EXPECT_EQ(cluster.given_back(recalled.front().substr(2), "e"), (Texts{"e<>"}));
}

}  // namespace
}  // namespace px::controller
