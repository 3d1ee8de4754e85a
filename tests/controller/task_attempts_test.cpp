#include <gtest/gtest.h>

#include "tests/controller/task_queue_fixture.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

// ---------------------------------------------------------------- timeouts

TEST(TaskAttempts, ATaskThatWaitsTooLongTimesOut) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2", retries(0, 2s));
  EXPECT_EQ(cluster.queue().next_deadline(), at(2s));
  EXPECT_EQ(cluster.clock(1999ms), Texts{});
  EXPECT_EQ(cluster.clock(2s), (Texts{"t2!TaskTimeout"}));
  EXPECT_EQ(
      cluster.last_error(),
      "the task did not start within its timeout of 2 s, as it waited for a free engine: give "
      "it more time, or start more engines");
  EXPECT_EQ(cluster.queue().next_deadline(), std::nullopt);
}

TEST(TaskAttempts, ARunningTaskDoesNotTimeOut) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1", retries(0, 2s));
  EXPECT_EQ(cluster.queue().next_deadline(), std::nullopt);
  EXPECT_EQ(cluster.clock(1h), Texts{});
}

TEST(TaskAttempts, TheTimeoutAlsoEndsTheWaitForADependency) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  TaskRules rules = after(spec({"t1"}));
  rules.timeout = 1s;
  cluster.submit("t2", rules);
  EXPECT_EQ(cluster.clock(1s), (Texts{"t2!TaskTimeout"}));
  EXPECT_NE(cluster.last_error().find("the tasks in its `after` or `follow`"), std::string::npos);
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskAttempts, LookingAgainAtAWaitingTaskDoesNotStartItsTimeoutAnew) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  TaskRules rules = after(spec({"t1", "t2"}));
  rules.timeout = 2s;
  cluster.submit("t3", rules);
  cluster.clock(1s);
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.clock(2s), (Texts{"t3!TaskTimeout"}));
}

// ---------------------------------------------------------------- retries

TEST(TaskAttempts, AFailedTaskWithoutRetriesIsDelivered) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  EXPECT_EQ(cluster.fails("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskAttempts, AFailedTaskWithRetriesGoesToAnotherEngine) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  EXPECT_EQ(cluster.submit("t1", retries(1)), (Texts{"t1>bob"}));
  EXPECT_EQ(cluster.fails("bob", "t1"), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.fails("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskAttempts, AnAttemptSaysHowManyHaveFailedBefore) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(2));
  EXPECT_EQ(cluster.last_failures(), 0);
  cluster.fails("bob", "t1");
  EXPECT_EQ(cluster.last_failures(), 1);
  cluster.submit("t2");
  EXPECT_EQ(cluster.last_failures(), 0);
  cluster.unmet("bob", "t2");  // ran nowhere: no attempt
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.last_failures(), 0);
}

TEST(TaskAttempts, AfterAllEnginesFailedTheyAreTriedAgainAfterAPause) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(3));
  cluster.fails("bob", "t1");
  EXPECT_EQ(cluster.fails("ann", "t1"), Texts{});
  EXPECT_EQ(cluster.queue().next_deadline(), at(500ms));
  EXPECT_EQ(cluster.clock(500ms), (Texts{"t1>bob again"}));
  EXPECT_EQ(cluster.fails("bob", "t1"), (Texts{"t1>ann again"}));
  EXPECT_EQ(cluster.fails("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskAttempts, AShortTimeoutEndsThePause) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1", retries(3, 100ms));
  EXPECT_EQ(cluster.fails("ann", "t1"), Texts{});
  EXPECT_EQ(cluster.clock(100ms), (Texts{"t1!TaskTimeout"}));
  EXPECT_NE(cluster.last_error().find("its next attempt after it had failed"), std::string::npos);
  EXPECT_EQ(cluster.queue().next_deadline(), std::nullopt);
}

TEST(TaskAttempts, ARetryOnTheOnlyTargetGoesThereAgain) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  TaskRules rules = targets({"ann"});
  rules.retries = 1;
  cluster.submit("t1", rules);
  cluster.fails("ann", "t1");
  EXPECT_EQ(cluster.clock(500ms), (Texts{"t1>ann again"}));
}

TEST(TaskAttempts, ARetryWaitsForAnUntriedEngineThatIsBusy) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(1));  // bob
  cluster.submit("t2");              // ann
  EXPECT_EQ(cluster.fails("bob", "t1"), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t1>ann"}));
}

TEST(TaskAttempts, AnEngineThatJoinsGetsTheTaskThatFailedElsewhere) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(1));  // bob
  cluster.submit("t2");              // ann
  cluster.fails("bob", "t1");
  EXPECT_EQ(cluster.join("cid"), (Texts{"t1>cid"}));
}

TEST(TaskAttempts, AnAbortedTaskIsDeliveredWhateverItsRetries) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(5));
  EXPECT_EQ(cluster.reply("bob", "t1", TaskOutcome::aborted), (Texts{"t1=bob"}));
  EXPECT_EQ(cluster.submit("t2", after(spec({"t1"}))), (Texts{"t2!ImpossibleDependency"}));
}

// ---------------------------------------------------------------- unmet dependencies

TEST(TaskAttempts, AnUnmetDependencySendsTheTaskToAnotherEngineWithoutARetry) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1");
  EXPECT_EQ(cluster.unmet("bob", "t1"), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskAttempts, ADependencyThatNoEngineMeetsIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(7));
  cluster.unmet("bob", "t1");
  EXPECT_EQ(cluster.unmet("ann", "t1"), (Texts{"t1!ImpossibleDependency"}));
  EXPECT_EQ(
      cluster.last_error(),
      "no engine that may run the task meets the requirements of its function: install what is "
      "missing where the engines run, or start engines that meet them, and submit the task again");
}

TEST(TaskAttempts, ADependencyThatItsOnlyTargetDoesNotMeetIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  EXPECT_EQ(cluster.unmet("ann", "t1"), (Texts{"t1!ImpossibleDependency"}));
}

TEST(TaskAttempts, AnEngineThatDoesNotMeetTheDependencyIsNotTriedAgain) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(2));
  cluster.unmet("bob", "t1");
  cluster.fails("ann", "t1");
  EXPECT_EQ(cluster.clock(500ms), (Texts{"t1>ann again"}));
}

TEST(TaskAttempts, WhenTheLastEngineThatCouldRunItDiesTheTaskIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1");  // bob
  cluster.submit("t2");  // ann
  cluster.unmet("bob", "t1");
  EXPECT_EQ(cluster.leave("ann"), (Texts{"t1!ImpossibleDependency"}));
}

// ---------------------------------------------------------------- engine death

TEST(TaskAttempts, ATaskOfADeadEngineFailsAfterFiveSeconds) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  EXPECT_EQ(cluster.leave("ann"), Texts{});
  EXPECT_EQ(cluster.queue().next_deadline(), at(5s));
  EXPECT_EQ(cluster.clock(5s), (Texts{"t1!EngineError"}));
  EXPECT_EQ(cluster.last_error(), "Engine 'ann' died while running task 't1'");
}

TEST(TaskAttempts, ATaskOfAnEngineWhoseProcessHasEndedIsGivenUpAsSoonAsNoReplyCanBeUnderWay) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(1));
  cluster.leave("bob", {.is_dead = true});
  EXPECT_EQ(cluster.queue().next_deadline(), at(300ms));
  EXPECT_EQ(cluster.clock(300ms), (Texts{"t1>ann"}));
}

TEST(TaskAttempts, TheLastWordsOfAnEngineWhoseProcessHasEndedAreHeard) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.leave("ann", {.is_dead = true});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskAttempts, AReplyWithinTheFiveSecondsWins) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.leave("ann");
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
  EXPECT_EQ(cluster.clock(5s), Texts{});
}

TEST(TaskAttempts, ATaskWithRetriesSurvivesItsEngine) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(1));
  cluster.leave("bob");
  EXPECT_EQ(cluster.clock(5s), (Texts{"t1>ann"}));
}

TEST(TaskAttempts, ADeadEngineGetsNoFurtherTask) {
  Cluster cluster;
  cluster.join("ann");
  cluster.leave("ann");
  EXPECT_EQ(cluster.submit("t1"), Texts{});
  EXPECT_EQ(cluster.join("bob"), (Texts{"t1>bob"}));
}

TEST(TaskAttempts, AnEngineThatComesBackIsANewOneAndItsOldTaskIsStillGivenUp) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.leave("ann");
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>ann"}));
  EXPECT_EQ(cluster.clock(5s), (Texts{"t1!EngineError"}));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann"}));
}

TEST(TaskAttempts, TheDeathOfAnEngineFailsTheDependentsOfItsTasks) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2", after(spec({"t1"})));
  cluster.leave("ann");
  EXPECT_EQ(cluster.clock(5s), (Texts{"t1!EngineError", "t2!ImpossibleDependency"}));
}

TEST(TaskAttempts, TheErrorOfADeadEngineSaysWhoItWasAndWhyItDied) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.leave("ann", {"3 on host2", "its heart stopped"});
  cluster.clock(5s);
  EXPECT_EQ(cluster.last_error(),
            "Engine 3 on host2 died while running task 't1': its heart stopped");
}

TEST(TaskAttempts, WithoutAMarkWhatALostEngineMayHaveBegunPassesWhatWaitsAtTheNext) {
  Cluster cluster{{.hwm = 0}};
  cluster.join("ann");
  cluster.submit("t1", retries(9));
  cluster.submit("t2", retries(9));
  cluster.join("bob");
  cluster.leave("ann", {.is_dead = true});
  EXPECT_EQ(cluster.clock(300ms), (Texts{"t1>bob again first", "t2>bob"}));
  EXPECT_EQ(cluster.reconnected("bob"), (Texts{"t1>bob again first resent", "t2>bob resent"}));
  cluster.join("carl");
  cluster.reply("bob", "t1");
  EXPECT_EQ(cluster.silent("bob"), (Texts{"t2>carl again first"}));
}

TEST(TaskAttempts, ATaskThatMayHaveBegunOnceGoesOnPassingOthers) {
  Cluster cluster{{.hwm = 0}};
  cluster.join("ann");
  cluster.submit("t1", retries(9));
  cluster.join("bob");
  cluster.submit("t2", retries(9));
  cluster.leave("ann", {.is_dead = true});
  EXPECT_EQ(cluster.clock(1s), (Texts{"t1>bob again first"}));
  cluster.join("carl");
  cluster.leave("bob", {.is_dead = true});
  EXPECT_EQ(cluster.clock(2s), (Texts{"t2>carl again first", "t1>carl again first"}));
}

TEST(TaskAttempts, WithAMarkNothingPassesAsNothingWaitsLong) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1", retries(9));
  cluster.join("bob");
  cluster.leave("ann", {.is_dead = true});
  EXPECT_EQ(cluster.clock(1s), (Texts{"t1>bob"}));
}

// ---------------------------------------------------------------- a connection breaks

TEST(TaskAttempts, WhatAnEngineRunsIsSentAgainWhenItsConnectionStandsAgain) {
  Cluster cluster{{.hwm = 2}};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3");
  EXPECT_EQ(cluster.reconnected("ann"), (Texts{"t1>ann resent", "t2>ann resent"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t3>ann"}));
}

TEST(TaskAttempts, ACopyIsSentAgainAsTheCopyThatItWas) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1", retries(2));
  cluster.fails("ann", "t1");
  EXPECT_EQ(cluster.clock(1s), (Texts{"t1>ann again"}));
  EXPECT_EQ(cluster.reconnected("ann"), (Texts{"t1>ann again resent"}));
}

TEST(TaskAttempts, NothingIsSentAgainToAnEngineThatIsNotThere) {
  Cluster cluster;
  EXPECT_EQ(cluster.reconnected("ann"), Texts{});
}

// ---------------------------------------------------------------- an engine is silent

TEST(TaskAttempts, ASilentEngineGetsNoTaskUntilItReturns) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.silent("ann"), Texts{});
  EXPECT_EQ(cluster.submit("t1"), Texts{});
  EXPECT_EQ(cluster.returned("ann"), (Texts{"t1>ann"}));
}

TEST(TaskAttempts, TheTaskOfASilentEngineWaitsForItWhereItMayNotBeRepeated) {
  Cluster cluster;
  cluster.join("bob");
  cluster.join("ann");
  cluster.submit("t1");
  EXPECT_EQ(cluster.silent("ann"), Texts{});
  cluster.returned("ann");
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskAttempts, TheTaskOfASilentEngineGoesElsewhereWhereItMayBeRepeated) {
  Cluster cluster;
  cluster.join("bob");
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t1", retries(1)), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.silent("ann"), (Texts{"t1>bob"}));
  cluster.returned("ann");
  EXPECT_EQ(cluster.reply("ann", "t1"), Texts{});  // too late
  EXPECT_EQ(cluster.reply("bob", "t1"), (Texts{"t1=bob"}));
}

TEST(TaskAttempts, ATaskForASilentTargetWaitsForIt) {
  Cluster cluster;
  cluster.join("bob");
  cluster.join("ann");
  cluster.silent("ann");
  EXPECT_EQ(cluster.submit("t1", targets({"ann"})), Texts{});
  EXPECT_EQ(cluster.returned("ann"), (Texts{"t1>ann"}));
}

// ---------------------------------------------------------------- an engine is drained

TEST(TaskQueue, ADrainedEngineEndsItsTaskAndGetsNoFurtherOne) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  EXPECT_EQ(cluster.drained("ann"), Texts{});
  EXPECT_EQ(cluster.submit("t2"), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
  EXPECT_EQ(cluster.join("bob"), (Texts{"t2>bob"}));
  EXPECT_EQ(cluster.submit("t3"), Texts{});
  EXPECT_EQ(cluster.drained("ann", false), (Texts{"t3>ann"}));
}

TEST(TaskQueue, AnEngineThatWasSilentStaysDrained) {
  Cluster cluster;
  cluster.join("ann");
  cluster.drained("ann");
  cluster.silent("ann");
  EXPECT_EQ(cluster.returned("ann"), Texts{});
  EXPECT_EQ(cluster.submit("t1"), Texts{});
  cluster.silent("ann");
  EXPECT_EQ(cluster.drained("ann", false), Texts{});
  EXPECT_EQ(cluster.returned("ann"), (Texts{"t1>ann"}));
}

TEST(TaskQueue, ATaskForADrainedEngineAloneWaitsForIt) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.drained("ann");
  EXPECT_EQ(cluster.submit("t1", targets({"ann"})), Texts{});
  EXPECT_EQ(cluster.drained("ann", false), (Texts{"t1>ann"}));
}

TEST(TaskQueue, AnEngineThatIsNotThereCannotBeDrained) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.drained("bob"), Texts{});
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>ann"}));
}

}  // namespace
}  // namespace px::controller
