#include <gtest/gtest.h>

#include "tests/controller/task_queue_fixture.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

// ---------------------------------------------------------------- targets

TEST(TaskDependencies, ATaskWithTargetsRunsOnOneOfThem) {
  Cluster cluster;
  for (const char* engine : {"ann", "bob", "cid"}) cluster.join(engine);
  EXPECT_EQ(cluster.submit("t1", targets({"ann"})), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.submit("t2", targets({"ann"})), Texts{});
  EXPECT_EQ(cluster.submit("t3", targets({"ann", "bob"})), (Texts{"t3>bob"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
}

TEST(TaskDependencies, ATaskForAnUnknownEngineIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t1", targets({"eve"})), (Texts{"t1!ImpossibleDependency"}));
}

TEST(TaskDependencies, AWaitingTaskIsImpossibleOnceItsTargetsAreDead) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  EXPECT_EQ(cluster.submit("t2", targets({"ann"})), Texts{});
  EXPECT_EQ(cluster.leave("ann"), (Texts{"t2!ImpossibleDependency"}));
  EXPECT_EQ(cluster.last_error(),
            "none of the engines in the task's `targets` is registered any more: submit the task "
            "again with other targets, or with none");
}

TEST(TaskDependencies, ARestrictedTaskDoesNotHoldUpThoseBehindIt) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  cluster.submit("t2", targets({"bob"}));
  cluster.submit("t3", targets({"ann"}));
  cluster.submit("t4");
  EXPECT_EQ(cluster.reply("bob", "t2"), (Texts{"t2=bob", "t4>bob"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t3>ann"}));
}

TEST(TaskDependencies, RestrictedAndPlainTasksTakeTheirTurnsByArrival) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3", targets({"ann"}));
  cluster.submit("t4");
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann"}));
  EXPECT_EQ(cluster.reply("ann", "t3"), (Texts{"t3=ann", "t4>ann"}));
}

// ---------------------------------------------------------------- after

TEST(TaskDependencies, ATaskStartsAfterTheOneItNames) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1");
  EXPECT_EQ(cluster.submit("t2", after(spec({"t1"}))), Texts{});
  EXPECT_EQ(cluster.reply("bob", "t1"), (Texts{"t1=bob", "t2>ann"}));
}

TEST(TaskDependencies, ATaskAfterAFinishedOneStartsAtOnce) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.submit("t2", after(spec({"t1"}))), (Texts{"t2>ann"}));
}

TEST(TaskDependencies, AfterAllWaitsForTheLast) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3", after(spec({"t1", "t2"})));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t3>ann"}));
}

TEST(TaskDependencies, AfterAnyWaitsForTheFirst) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3", after(spec({"t1", "t2"}, false)));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann"}));
}

TEST(TaskDependencies, AFailureMakesItsDependentsImpossible) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2", after(spec({"t1"})));
  cluster.submit("t3", after(spec({"t2"})));
  EXPECT_EQ(cluster.fails("ann", "t1"),
            (Texts{"t1=ann", "t2!ImpossibleDependency", "t3!ImpossibleDependency"}));
  EXPECT_EQ(cluster.submit("t4", after(spec({"t1"}))), (Texts{"t4!ImpossibleDependency"}));
  EXPECT_EQ(cluster.last_error(),
            "a task in its `after` has failed: see the error there; Dependency(..., success=True, "
            "failure=True) runs this task in both cases");
}

TEST(TaskDependencies, AnyIsImpossibleOnlyWhenAllFailed) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3", after(spec({"t1", "t2"}, false)));
  EXPECT_EQ(cluster.fails("ann", "t1"), (Texts{"t1=ann"}));
  EXPECT_EQ(cluster.fails("ann", "t2"), (Texts{"t2=ann", "t3!ImpossibleDependency"}));
}

TEST(TaskDependencies, ADependencyOnFailureIsMetByAFailureAndSpoiltByASuccess) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2", after(spec({"t1"}, true, false, true)));
  EXPECT_EQ(cluster.fails("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
  cluster.reply("ann", "t2");
  EXPECT_EQ(cluster.submit("t3", after(spec({"t2"}, true, false, true))),
            (Texts{"t3!ImpossibleDependency"}));
  EXPECT_EQ(cluster.last_error().find("a task in its `after` has succeeded, and this task is only"),
            0U);
}

TEST(TaskDependencies, ADependencyOnAnyEndIsMetByBoth) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3", after(spec({"t1", "t2"}, true, true, true)));
  cluster.fails("ann", "t1");
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann"}));
}

TEST(TaskDependencies, ADependencyOnItselfIsInvalidAtOnce) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t1", after(spec({"t1"}))), (Texts{"t1!InvalidDependency"}));
  EXPECT_EQ(cluster.submit("t2", follow(spec({"t2"}))), (Texts{"t2!InvalidDependency"}));
}

TEST(TaskDependencies, ADependencyOnATaskThatDoesNotComeIsInvalid) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t2", after(spec({"t9"}))), Texts{});
  EXPECT_EQ(cluster.submit("t3", follow(spec({"t9"}))), Texts{});
  EXPECT_EQ(cluster.queue().next_deadline(), at(3s));
  EXPECT_EQ(cluster.clock(3s), (Texts{"t2!InvalidDependency", "t3!InvalidDependency"}));
  EXPECT_EQ(
      cluster.last_error(),
      "the task depends on request t9, which the controller does not know as an earlier task: "
      "name results of load-balanced views, of which it remembers the latest 65536 that ended");
  EXPECT_EQ(cluster.queue().size(), 0u);
}

TEST(TaskDependencies, ADependencyOnATaskThatWasForgottenIsInvalid) {
  TaskQueueOptions small;
  small.finished_limit = 1;
  Cluster cluster{small};
  cluster.join("ann");
  for (const char* id : {"t1", "t2"}) {
    cluster.submit(id);
    cluster.reply("ann", id);
  }
  cluster.submit("t3", after(spec({"t1"})));
  EXPECT_EQ(cluster.submit("t4", after(spec({"t2"}))), (Texts{"t4>ann"}));
  EXPECT_EQ(cluster.clock(3s), (Texts{"t3!InvalidDependency"}));
}

TEST(TaskDependencies, ATaskMayComeAfterThoseThatDependOnIt) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t3", after(spec({"t2"}))), Texts{});
  EXPECT_EQ(cluster.submit("t2", after(spec({"t1"}))), Texts{});
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.clock(3s), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann"}));
  EXPECT_EQ(cluster.queue().next_deadline(), std::nullopt);
}

TEST(TaskDependencies, ATaskThatEndedElsewhereMayBeReportedAfterThoseThatDependOnIt) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t2", after(spec({"t1"}))), Texts{});
  EXPECT_EQ(cluster.ended_before("t1", true, "ann"), (Texts{"t2>ann"}));
}

TEST(TaskDependencies, OneOfSeveralThatHasComeIsEnoughWhereAnyIs) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  EXPECT_EQ(cluster.submit("t2", after(spec({"t1", "t9"}, false))), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
  EXPECT_EQ(cluster.clock(3s), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann"}));
  EXPECT_EQ(cluster.submit("t9"), (Texts{"t9>ann"}));
  EXPECT_EQ(cluster.reply("ann", "t9"), (Texts{"t9=ann"}));
}

TEST(TaskDependencies, ATimeoutThatEndsWithTheWaitForAnUnknownTaskIsTold) {
  Cluster cluster;
  cluster.join("ann");
  TaskRules rules = after(spec({"t9"}));
  rules.timeout = 3s;
  cluster.submit("t1", rules);
  EXPECT_EQ(cluster.clock(3s), (Texts{"t1!TaskTimeout"}));
  EXPECT_EQ(cluster.submit("t9"), (Texts{"t9>ann"}));
}

TEST(TaskDependencies, AfterARestartUnknownTasksAreAwaitedForLonger) {
  Cluster cluster;
  cluster.queue().expect_returns(at(10s));
  cluster.join("ann");
  cluster.submit("t1", after(spec({"t9"})));
  EXPECT_EQ(cluster.clock(9s), Texts{});
  cluster.submit("t2", after(spec({"t9"})));
  EXPECT_EQ(cluster.clock(10s), (Texts{"t1!InvalidDependency"}));
  EXPECT_EQ(cluster.clock(12s), (Texts{"t2!InvalidDependency"}));
}

TEST(TaskDependencies, ALongChainThatFailsAtItsHeadEndsAtOnce) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t0");
  for (int i = 1; i <= 20000; ++i)
    cluster.submit("t" + std::to_string(i), after(spec({"t" + std::to_string(i - 1)})));
  EXPECT_EQ(cluster.fails("ann", "t0").size(), 20001u);
  EXPECT_EQ(cluster.queue().size(), 0u);
}

// ---------------------------------------------------------------- follow

TEST(TaskDependencies, ATaskFollowsAnotherToItsEngine) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  EXPECT_EQ(cluster.submit("t2", follow(spec({"t1"}))), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
}

TEST(TaskDependencies, AFollowerWaitsForItsEngineEvenIfOthersAreFree) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  cluster.reply("ann", "t1");
  cluster.submit("t2", targets({"ann"}));
  EXPECT_EQ(cluster.submit("t3", follow(spec({"t1"}))), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann"}));
}

TEST(TaskDependencies, AFollowerOfTasksOnTwoEnginesIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  cluster.submit("t2", targets({"bob"}));
  cluster.submit("t3", follow(spec({"t1", "t2"})));
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.reply("bob", "t2"), (Texts{"t2=bob", "t3!ImpossibleDependency"}));
  EXPECT_NE(cluster.last_error().find("ran on different engines"), std::string::npos);
}

TEST(TaskDependencies, AFollowerOfAnyMayRunWhereOneOfThemRan) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  cluster.submit("t2", targets({"bob"}));
  cluster.submit("t3", follow(spec({"t1", "t2"}, false)));
  EXPECT_EQ(cluster.reply("bob", "t2"), (Texts{"t2=bob", "t3>bob"}));
}

TEST(TaskDependencies, AFollowerAndItsTargetsMustAgree) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  TaskRules rules = follow(spec({"t1"}));
  rules.targets.emplace_back("bob");
  EXPECT_EQ(cluster.submit("t2", rules), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2!ImpossibleDependency"}));
}

TEST(TaskDependencies, AFollowerToADeadEngineIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  cluster.reply("ann", "t1");
  cluster.submit("t2", targets({"ann"}));
  cluster.submit("t3", follow(spec({"t1"})));
  EXPECT_EQ(cluster.leave("ann"), (Texts{"t3!ImpossibleDependency"}));
  EXPECT_EQ(cluster.submit("t4", follow(spec({"t1"}))), (Texts{"t4!ImpossibleDependency"}));
  EXPECT_NE(cluster.last_error().find("the engines on which the tasks in its `follow` ran"),
            std::string::npos);
}

}  // namespace
}  // namespace px::controller
