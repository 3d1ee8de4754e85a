#include <gtest/gtest.h>

#include <algorithm>

#include "tests/controller/task_queue_fixture.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

// ---------------------------------------------------------------- plain tasks

TEST(TaskQueue, ATaskGoesToAFreeEngineAtOnce) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>ann"}));
}

TEST(TaskQueue, WithoutEnginesATaskWaitsForTheFirst) {
  Cluster cluster;
  EXPECT_EQ(cluster.submit("t1"), Texts{});
  EXPECT_EQ(cluster.join("ann"), (Texts{"t1>ann"}));
}

TEST(TaskQueue, TheReplyIsDeliveredAndTheNextTaskFollowsIt) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  EXPECT_EQ(cluster.submit("t2"), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
  EXPECT_EQ(cluster.queue().size(), 1u);
}

TEST(TaskQueue, WaitingTasksRunInTheOrderOfArrival) {
  Cluster cluster;
  for (const char* id : {"t1", "t2", "t3"}) cluster.submit(id);
  EXPECT_EQ(cluster.join("ann"), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann"}));
}

TEST(TaskQueue, AnEngineHoldsAsManyTasksAsTheHighWaterMarkSays) {
  Cluster cluster{options(TaskScheme::leastload, 2)};
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>ann"}));
  EXPECT_EQ(cluster.submit("t3"), Texts{});
}

TEST(TaskQueue, AHighWaterMarkOfZeroIsNoLimit) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(cluster.submit("t" + std::to_string(i)).size(), 1u);
}

TEST(TaskQueue, AMessageIdThatIsInTheQueueIsIgnored) {
  Cluster cluster;
  cluster.submit("t1");
  EXPECT_EQ(cluster.submit("t1"), Texts{});
  EXPECT_EQ(cluster.queue().size(), 1u);
}

TEST(TaskQueue, AReplyOfAnEngineThatDoesNotRunTheTaskIsIgnored) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>bob"}));  // the newest is in front
  EXPECT_EQ(cluster.reply("ann", "t1"), Texts{});
  EXPECT_EQ(cluster.reply("bob", "t9"), Texts{});
  EXPECT_EQ(cluster.reply("bob", "t1"), (Texts{"t1=bob"}));
  EXPECT_EQ(cluster.reply("bob", "t1"), Texts{});
}

TEST(TaskQueue, ATaskBeyondTheBoundOfBytesIsOverload) {
  Cluster cluster{{.max_bytes = std::size_t{3} << 20}};
  cluster.join("ann");
  constexpr std::size_t mib = 1 << 20;
  EXPECT_EQ(cluster.submit("t1", {}, mib), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.submit("t2", {}, mib), Texts{});
  EXPECT_EQ(cluster.submit("t3", {}, mib), (Texts{"t3!Overloaded"}));
  EXPECT_NE(cluster.last_error().find("--task-queue-mib"), std::string::npos);
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
  EXPECT_EQ(cluster.submit("t4", {}, mib), Texts{});
  cluster.reply("ann", "t2");
  cluster.reply("ann", "t4");
  EXPECT_EQ(cluster.queue().bytes(), 0u);
}

// ---------------------------------------------------------------- schemes

TEST(TaskQueue, LeastLoadChoosesTheEngineWithTheFewestTasks) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.join("bob");
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>bob"}));
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>ann"}));
  EXPECT_EQ(cluster.submit("t3"), (Texts{"t3>bob"}));
  cluster.reply("ann", "t2");
  EXPECT_EQ(cluster.submit("t4"), (Texts{"t4>ann"}));
}

TEST(TaskQueue, LruChoosesTheEngineThatWasChosenLongestAgo) {
  Cluster cluster{options(TaskScheme::lru, 0)};
  cluster.join("ann");
  cluster.join("bob");
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>bob"}));
  cluster.reply("bob", "t1");
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>ann"}));
  EXPECT_EQ(cluster.submit("t3"), (Texts{"t3>bob"}));
}

TEST(TaskQueue, PlainRandomDrawsOnce) {
  Cluster cluster{options(TaskScheme::plainrandom, 0), {0.99, 0.0}};
  cluster.join("ann");
  cluster.join("bob");                                 // order: bob, ann
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>ann"}));  // stays the last
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>bob"}));
}

TEST(TaskQueue, TwoBinTakesTheSmallerOfTwoDraws) {
  Cluster cluster{options(TaskScheme::twobin, 0), {0.99, 0.0, 0.99, 0.99}};
  cluster.join("ann");
  cluster.join("bob");                                 // order: bob, ann
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>bob"}));  // order: ann, bob
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>bob"}));
}

TEST(TaskQueue, WeightedPrefersAnIdleEngine) {
  Cluster cluster{options(TaskScheme::weighted, 0), {0.0, 0.5, 0.9}};
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t1"), (Texts{"t1>ann"}));
  cluster.join("bob");
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>bob"}));
}

TEST(TaskQueue, TheRandomSchemesKeepToTheHighWaterMark) {
  for (const TaskScheme scheme :
       {TaskScheme::plainrandom, TaskScheme::twobin, TaskScheme::weighted}) {
    Cluster cluster{options(scheme, 1), {0.0, 0.3, 0.99}};
    cluster.join("ann");
    cluster.join("bob");
    cluster.submit("t1");
    EXPECT_EQ(cluster.submit("t2").size(), 1u);
    EXPECT_EQ(cluster.submit("t3"), Texts{});
  }
}

// ---------------------------------------------------------------- many tasks

TEST(TaskQueue, EveryOfManyMixedTasksEndsExactlyOnce) {
  Cluster cluster{options(TaskScheme::leastload, 1)};
  const Texts engines{"ann", "bob", "cid", "dan"};
  for (const std::string& engine : engines) cluster.join(engine);
  std::vector<std::pair<std::string, std::string>> running;
  std::vector<int> ends(3000, 0);
  const auto take = [&](const Texts& effects) {
    for (const std::string& text : effects) {
      const std::size_t mark = text.find_first_of(">=!");
      const std::string id = text.substr(0, mark);
      if (text[mark] == '>')
        running.emplace_back(text.substr(mark + 1, 3), id);
      else
        ++ends[std::stoul(id)];
    }
  };
  for (int i = 0; i < 3000; ++i) {
    TaskRules rules;
    if (i % 3 == 0) rules = targets({engines[i % 4], engines[(i / 3) % 4]});
    if (i % 5 == 4) rules.after = spec({std::to_string(i - 1)}, true, true, true);
    if (i % 7 == 0) rules.retries = 2;
    take(cluster.submit(std::to_string(i), rules));
  }
  for (int step = 0; !running.empty(); ++step) {
    const auto [engine, id] = running[step % running.size()];
    running.erase(running.begin() + step % running.size());
    take(step % 11 == 0 ? cluster.fails(engine, id) : cluster.reply(engine, id));
    if (running.empty()) take(cluster.clock(1s * (step + 1)));
  }
  EXPECT_EQ(std::count(ends.begin(), ends.end(), 1), 3000);
  EXPECT_EQ(cluster.queue().size(), 0u);
}

TEST(TaskQueue, ATaskThatWaitsIsKeptInTheMemoryThatItCameWith) {
  TaskQueue queue{{}, [] { return 0.0; }};
  const auto came = std::make_shared<TextFrames>(std::vector<std::string>{"client", "<IDS|MSG>"});
  const SharedFrames kept = compacted(*came);
  TaskRequest request{MessageId{"t1"}, came, 1};
  request.kept = kept;
  queue.submit(std::move(request), at(0s));
  const TaskEffects effects = queue.engine_joined(EngineUuid{"ann"}, at(0s));
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(std::get<AssignTask>(effects[0]).request, kept);
}

}  // namespace
}  // namespace px::controller
