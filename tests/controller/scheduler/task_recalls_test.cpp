#include <gtest/gtest.h>

#include <string>

#include "tests/controller/task_queue_fixture.hpp"

namespace px::controller {
namespace {

/// ann and bob give tasks back, and have answered one that took `first`.
struct Warm : Cluster {
  explicit Warm(Duration first = 1ms) : Cluster({.hwm = 1, .ahead = 1}) {
    for (const std::string engine : {"ann", "bob"}) {
      join_able(engine);
      submit("warm " + engine, targets({engine}));
    }
    clock(first);
    for (const std::string engine : {"ann", "bob"}) reply(engine, "warm " + engine);
  }
};

TEST(TaskRecalls, AnEngineWhoseTaskWasQuickGetsTheNextOneAhead) {
  Warm cluster;
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>bob"}));
  EXPECT_EQ(cluster.submit("t3"), (Texts{"t3>ann"}));
  EXPECT_EQ(cluster.submit("t4"), (Texts{"t4>bob"}));
  EXPECT_EQ(cluster.submit("t5"), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t5>ann"}));
}

/// The engine has answered so many tasks, one after the other, each of which took `each`.
void answer_many(Cluster& cluster, const std::string& engine, int count, Duration each) {
  for (int i = 1; i <= count; ++i) {
    cluster.submit("warm " + std::to_string(i));
    cluster.clock(i * each);
    cluster.reply(engine, "warm " + std::to_string(i));
  }
}

TEST(TaskRecalls, AnEngineWhoseTasksAreVeryShortHoldsSeveralAhead) {
  Cluster cluster{{.hwm = 1, .ahead = 3}};
  cluster.join_able("ann");
  answer_many(cluster, "ann", 20, 0ms);
  for (const std::string id : {"t1", "t2", "t3", "t4"})
    EXPECT_EQ(cluster.submit(id), (Texts{id + ">ann"}));
  EXPECT_EQ(cluster.submit("t5"), Texts{});
  EXPECT_EQ(cluster.clock(6ms), (Texts{"t4<ann", "t3<ann", "t2<ann"}));
}

TEST(TaskRecalls, WhatAnEngineHoldsAheadLastsTwoMilliseconds) {
  Cluster cluster{{.hwm = 1, .ahead = 9}};
  cluster.join_able("ann");
  answer_many(cluster, "ann", 100, 500us);
  for (int i = 1; i <= 5; ++i) cluster.submit("t" + std::to_string(i));
  EXPECT_EQ(cluster.submit("t6"), Texts{});
  EXPECT_EQ(cluster.clock(1s), (Texts{"t5<ann", "t4<ann", "t3<ann", "t2<ann"}));
}

TEST(TaskRecalls, AnEngineThatDoesNotGiveBackGetsNoneAhead) {
  Cluster cluster{{.hwm = 1, .ahead = 1}};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
  EXPECT_EQ(cluster.submit("t3"), Texts{});
}

TEST(TaskRecalls, AnEngineWhoseTaskWasLongGetsNoneAhead) {
  Warm cluster{6ms};
  cluster.submit("t1");
  cluster.submit("t2");
  EXPECT_EQ(cluster.submit("t3"), Texts{});
}

TEST(TaskRecalls, WithoutALimitNothingIsAhead) {
  Cluster cluster{{.hwm = 0, .ahead = 1}};
  cluster.join_able("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.clock(1s), Texts{});
}

TEST(TaskRecalls, AShortTaskNeverWaitsBehindALongOneWhileAnotherEngineIsFree) {
  Warm cluster;
  cluster.submit("long");
  cluster.submit("other");
  cluster.submit("short");  // ahead at ann, behind the long one
  EXPECT_EQ(cluster.reply("bob", "other"), (Texts{"other=bob"}));
  EXPECT_EQ(cluster.queue().next_deadline(), at(6ms + Duration{1}));
  EXPECT_EQ(cluster.clock(6ms), Texts{});
  EXPECT_EQ(cluster.clock(6ms + Duration{1}), (Texts{"short<ann"}));
  EXPECT_EQ(cluster.given_back("ann", "short"), (Texts{"short<>", "short>bob"}));
  EXPECT_EQ(cluster.reply("bob", "short"), (Texts{"short=bob"}));
}

TEST(TaskRecalls, WhatIsRecalledKeepsItsPlaceInTheQueue) {
  Warm cluster;
  for (const char* id : {"long 1", "long 2", "t3", "t4", "t5"}) cluster.submit(id);
  EXPECT_EQ(cluster.clock(10ms), (Texts{"t3<ann", "t4<bob"}));
  EXPECT_EQ(cluster.given_back("ann", "t3"), (Texts{"t3<>"}));
  EXPECT_EQ(cluster.given_back("bob", "t4"), (Texts{"t4<>"}));
  EXPECT_EQ(cluster.reply("bob", "long 2"), (Texts{"long 2=bob", "t3>bob"}));
  EXPECT_EQ(cluster.reply("ann", "long 1"), (Texts{"long 1=ann", "t4>ann"}));
}

TEST(TaskRecalls, WhatAnEngineBeginsWhileItIsAskedToGiveBackIsWhatComesNext) {
  Cluster cluster{{.hwm = 1, .ahead = 3}};
  cluster.join_able("ann");
  answer_many(cluster, "ann", 20, 0ms);
  for (const char* id : {"t1", "t2", "t3", "t4"}) cluster.submit(id);
  EXPECT_EQ(cluster.clock(6ms), (Texts{"t4<ann", "t3<ann", "t2<ann"}));
  EXPECT_EQ(cluster.given_back("ann", "t4"), (Texts{"t4<>"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));  // it begins t2 now
  EXPECT_EQ(cluster.given_back("ann", "t3"), (Texts{"t3<>"}));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann again", "t4>ann again"}));
}

TEST(TaskRecalls, NothingIsGivenAheadOfATaskThatMayComeBack) {
  Cluster cluster{{.hwm = 1, .ahead = 3}};
  cluster.join_able("ann");
  answer_many(cluster, "ann", 20, 0ms);
  for (const char* id : {"t1", "t2", "t3"}) cluster.submit(id);
  EXPECT_EQ(cluster.clock(6ms), (Texts{"t3<ann", "t2<ann"}));
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann"}));  // a quick one
  EXPECT_EQ(cluster.submit("t4"), Texts{});
  EXPECT_EQ(cluster.given_back("ann", "t3"), (Texts{"t3<>", "t3>ann again"}));
}

TEST(TaskRecalls, AnEngineThatHasBegunTheTaskAnswersIt) {
  Warm cluster;
  for (const char* id : {"t1", "t2", "t3"}) cluster.submit(id);
  EXPECT_EQ(cluster.clock(10ms), (Texts{"t3<ann"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
  EXPECT_EQ(cluster.reply("ann", "t3"), (Texts{"t3=ann"}));
  EXPECT_EQ(cluster.given_back("ann", "t3"), Texts{});
  EXPECT_EQ(cluster.queue().size(), 1u);
}

TEST(TaskRecalls, AReturnCountsForTheMessageByWhichTheTaskWasGiven) {
  Warm cluster;
  for (const char* id : {"t1", "t2", "t3"}) cluster.submit(id);
  cluster.clock(10ms);
  EXPECT_EQ(cluster.given_back("bob", "t3"), Texts{});  // who does not have it
  cluster.given_back("ann", "t3");
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t3>ann again"}));
  EXPECT_EQ(cluster.given_back("ann", "t3", 0), Texts{});  // the first one came twice
  EXPECT_EQ(cluster.reply("ann", "t3"), (Texts{"t3=ann"}));
}

TEST(TaskRecalls, AnEngineThatEndsGivesBackWhatItHasNotBegun) {
  Warm cluster;
  for (const char* id : {"t1", "t2", "t3"}) cluster.submit(id);
  cluster.ending("ann");
  EXPECT_EQ(cluster.given_back("ann", "t3"), (Texts{"t3<>", "t3>bob"}));
  cluster.reply("bob", "t2");
  cluster.leave("ann");
  EXPECT_EQ(cluster.clock(10s), (Texts{"t1!EngineError"}));
  EXPECT_EQ(cluster.reply("bob", "t3"), (Texts{"t3=bob"}));
}

TEST(TaskRecalls, AnEngineThatEndsGetsNoFurtherTasks) {
  Warm cluster;
  cluster.ending("ann");
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>bob"}));
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>bob"}));
  EXPECT_EQ(cluster.submit("t3"), Texts{});
}

TEST(TaskRecalls, ARecallIsSentAgainWhenTheConnectionStandsAgain) {
  Warm cluster;
  for (const char* id : {"t1", "t2", "t3"}) cluster.submit(id);
  cluster.clock(10ms);
  EXPECT_EQ(cluster.reconnected("ann"), (Texts{"t1>ann resent", "t3>ann resent", "t3<ann"}));
}

TEST(TaskRecalls, ATaskThatMayWaitOnlySoLongIsNotGivenAhead) {
  Warm cluster;
  cluster.submit("t1");
  cluster.submit("t2");
  EXPECT_EQ(cluster.submit("t3", retries(0, 1s)), Texts{});
  EXPECT_EQ(cluster.clock(2s), (Texts{"t3!TaskTimeout"}));
}

TEST(TaskRecalls, ACellIsNotGivenAheadAsItsEngineWouldAbortItBehindOneThatFails) {
  Warm cluster;
  cluster.submit("t1");
  cluster.submit("t2");
  EXPECT_EQ(cluster.submit_cell("t3"), Texts{});
  EXPECT_EQ(cluster.reply("bob", "t2"), (Texts{"t2=bob", "t3>bob"}));
}

TEST(TaskRecalls, ATaskWithTargetsIsGivenAheadToThoseAlone) {
  Warm cluster;
  for (const char* id : {"t1", "t2"}) cluster.submit(id);
  EXPECT_EQ(cluster.submit("t3", targets({"bob"})), (Texts{"t3>bob"}));
  cluster.clock(10ms);
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.given_back("bob", "t3"), (Texts{"t3<>"}));
  EXPECT_EQ(cluster.reply("bob", "t2"), (Texts{"t2=bob", "t3>bob again"}));
}

TEST(TaskRecalls, WhatFollowsARecalledTaskGoesWhereItRan) {
  Warm cluster;
  for (const char* id : {"t1", "t2", "t3"}) cluster.submit(id);
  cluster.submit("t4", follow(spec({"t3"})));
  cluster.clock(10ms);
  cluster.reply("bob", "t2");
  EXPECT_EQ(cluster.given_back("ann", "t3"), (Texts{"t3<>", "t3>bob"}));
  EXPECT_EQ(cluster.reply("bob", "t3"), (Texts{"t3=bob", "t4>bob"}));
}

TEST(TaskRecalls, ARecallUsesUpNoRetry) {
  Warm cluster;
  for (const char* id : {"t1", "t2"}) cluster.submit(id);
  cluster.submit("t3", retries(1));
  cluster.clock(10ms);
  cluster.reply("bob", "t2");
  EXPECT_EQ(cluster.given_back("ann", "t3"), (Texts{"t3<>", "t3>bob"}));
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.fails("bob", "t3"), (Texts{"t3>ann again"}));
}

TEST(TaskRecalls, WhatIsTakenOverFromAnEarlierControllerIsRecalledForAFreeEngine) {
  Cluster cluster{{.hwm = 1, .ahead = 1}};
  cluster.join("ann");
  cluster.join_able("bob");
  cluster.submit_held("t1", "ann");
  cluster.submit_held("t2", "ann");
  EXPECT_EQ(cluster.join_able("ann"), (Texts{"t2<ann"}));  // now it says that it gives back
  EXPECT_EQ(cluster.given_back("ann", "t2"), (Texts{"t2<>", "t2>bob"}));
}

}  // namespace
}  // namespace px::controller
