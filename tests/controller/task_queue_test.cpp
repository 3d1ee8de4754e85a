#include <px/controller/task_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace px {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

Instant at(Duration since_start) {
  return Instant{} + 1h + since_start;
}

/// A queue with a clock that a test sets, and its effects as text: "t1>ann" (assigned),
/// "t1>ann again" (as a copy), "t1=ann" (answered by ann), "t1!Name" (failed).
class Cluster {
 public:
  explicit Cluster(TaskQueueOptions options = {}, std::vector<double> draws = {})
      : queue_(options, [draws, next = std::size_t{0}]() mutable {
          return draws.empty() ? 0.0 : draws[next++ % draws.size()];
        }) {}

  Texts join(const std::string& engine) {
    return texts(queue_.engine_joined(EngineUuid{engine}, now_));
  }
  Texts leave(const std::string& engine) {
    return texts(queue_.engine_left(EngineUuid{engine}, now_));
  }
  Texts submit(const std::string& id, TaskRules rules = {}) {
    auto frames = std::make_shared<TextFrames>(TextFrames{"client", "<IDS|MSG>"});
    return texts(queue_.submit({MessageId{id}, frames, 1, std::move(rules)}, now_));
  }
  Texts reply(const std::string& engine, const std::string& id,
              TaskOutcome outcome = TaskOutcome::ok) {
    return texts(queue_.reply(engine, id, outcome, std::make_shared<TextFrames>(), now_));
  }
  Texts fails(const std::string& engine, const std::string& id) {
    return reply(engine, id, TaskOutcome::failed);
  }
  Texts unmet(const std::string& engine, const std::string& id) {
    return reply(engine, id, TaskOutcome::unmet);
  }
  Texts clock(Duration time) {
    now_ = at(time);
    return texts(queue_.on_time(now_));
  }
  TaskQueue& queue() { return queue_; }
  const std::string& last_error() const { return last_error_; }

 private:
  Texts texts(const TaskEffects& effects) {
    Texts result;
    for (const TaskEffect& effect : effects) {
      if (const auto* assign = std::get_if<AssignTask>(&effect))
        result.push_back(assign->msg_id.text + ">" + assign->engine.text +
                         (assign->repetition > 0 ? " again" : ""));
      if (const auto* reply = std::get_if<DeliverReply>(&effect))
        result.push_back(reply->msg_id.text + "=" + reply->engine.text);
      if (const auto* failure = std::get_if<FailTask>(&effect)) {
        result.push_back(failure->msg_id.text + "!" + failure->error_name);
        last_error_ = failure->error_value;
      }
    }
    return result;
  }
  Instant now_ = at(0s);
  TaskQueue queue_;
  std::string last_error_;
};

TaskRules targets(const Texts& engines) {
  TaskRules rules;
  for (const std::string& engine : engines) rules.targets.emplace_back(engine);
  return rules;
}
TaskRules retries(int count, Duration timeout = 0s) {
  TaskRules rules;
  rules.retries = count;
  rules.timeout = timeout;
  return rules;
}
DependencySpec spec(const Texts& ids, bool all = true, bool success = true, bool failure = false) {
  return {ids, all, success, failure};
}
TaskRules after(DependencySpec dependency) {
  TaskRules rules;
  rules.after = std::move(dependency);
  return rules;
}
TaskRules follow(DependencySpec dependency) {
  TaskRules rules;
  rules.follow = std::move(dependency);
  return rules;
}
TaskQueueOptions options(TaskScheme scheme, std::size_t hwm) {
  TaskQueueOptions result;
  result.scheme = scheme;
  result.hwm = hwm;
  return result;
}

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

// ---------------------------------------------------------------- targets

TEST(TaskQueue, ATaskWithTargetsRunsOnOneOfThem) {
  Cluster cluster;
  for (const char* engine : {"ann", "bob", "cid"}) cluster.join(engine);
  EXPECT_EQ(cluster.submit("t1", targets({"ann"})), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.submit("t2", targets({"ann"})), Texts{});
  EXPECT_EQ(cluster.submit("t3", targets({"ann", "bob"})), (Texts{"t3>bob"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
}

TEST(TaskQueue, ATaskForAnUnknownEngineIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t1", targets({"eve"})), (Texts{"t1!ImpossibleDependency"}));
}

TEST(TaskQueue, AWaitingTaskIsImpossibleOnceItsTargetsAreDead) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  EXPECT_EQ(cluster.submit("t2", targets({"ann"})), Texts{});
  EXPECT_EQ(cluster.leave("ann"), (Texts{"t2!ImpossibleDependency"}));
}

TEST(TaskQueue, ARestrictedTaskDoesNotHoldUpThoseBehindIt) {
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

TEST(TaskQueue, RestrictedAndPlainTasksTakeTheirTurnsByArrival) {
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

TEST(TaskQueue, ATaskStartsAfterTheOneItNames) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1");
  EXPECT_EQ(cluster.submit("t2", after(spec({"t1"}))), Texts{});
  EXPECT_EQ(cluster.reply("bob", "t1"), (Texts{"t1=bob", "t2>ann"}));
}

TEST(TaskQueue, ATaskAfterAFinishedOneStartsAtOnce) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.submit("t2", after(spec({"t1"}))), (Texts{"t2>ann"}));
}

TEST(TaskQueue, AfterAllWaitsForTheLast) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3", after(spec({"t1", "t2"})));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t3>ann"}));
}

TEST(TaskQueue, AfterAnyWaitsForTheFirst) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3", after(spec({"t1", "t2"}, false)));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann"}));
}

TEST(TaskQueue, AFailureMakesItsDependentsImpossible) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2", after(spec({"t1"})));
  cluster.submit("t3", after(spec({"t2"})));
  EXPECT_EQ(cluster.fails("ann", "t1"),
            (Texts{"t1=ann", "t2!ImpossibleDependency", "t3!ImpossibleDependency"}));
  EXPECT_EQ(cluster.submit("t4", after(spec({"t1"}))), (Texts{"t4!ImpossibleDependency"}));
}

TEST(TaskQueue, AnyIsImpossibleOnlyWhenAllFailed) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3", after(spec({"t1", "t2"}, false)));
  EXPECT_EQ(cluster.fails("ann", "t1"), (Texts{"t1=ann"}));
  EXPECT_EQ(cluster.fails("ann", "t2"), (Texts{"t2=ann", "t3!ImpossibleDependency"}));
}

TEST(TaskQueue, ADependencyOnFailureIsMetByAFailureAndSpoiltByASuccess) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2", after(spec({"t1"}, true, false, true)));
  EXPECT_EQ(cluster.fails("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
  cluster.reply("ann", "t2");
  EXPECT_EQ(cluster.submit("t3", after(spec({"t2"}, true, false, true))),
            (Texts{"t3!ImpossibleDependency"}));
}

TEST(TaskQueue, ADependencyOnAnyEndIsMetByBoth) {
  Cluster cluster{options(TaskScheme::leastload, 0)};
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2");
  cluster.submit("t3", after(spec({"t1", "t2"}, true, true, true)));
  cluster.fails("ann", "t1");
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann"}));
}

TEST(TaskQueue, ADependencyOnItselfOrOnAnUnknownTaskIsInvalid) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t1", after(spec({"t1"}))), (Texts{"t1!InvalidDependency"}));
  EXPECT_EQ(cluster.submit("t2", after(spec({"t9"}))), (Texts{"t2!InvalidDependency"}));
  EXPECT_EQ(cluster.submit("t3", follow(spec({"t9"}))), (Texts{"t3!InvalidDependency"}));
  EXPECT_EQ(cluster.queue().size(), 0u);
}

TEST(TaskQueue, ADependencyOnATaskThatWasForgottenIsInvalid) {
  TaskQueueOptions small;
  small.finished_limit = 1;
  Cluster cluster{small};
  cluster.join("ann");
  for (const char* id : {"t1", "t2"}) {
    cluster.submit(id);
    cluster.reply("ann", id);
  }
  EXPECT_EQ(cluster.submit("t3", after(spec({"t1"}))), (Texts{"t3!InvalidDependency"}));
  EXPECT_EQ(cluster.submit("t4", after(spec({"t2"}))),
            (Texts{"t4!InvalidDependency"}));  // t3 is it
}

TEST(TaskQueue, ALongChainThatFailsAtItsHeadEndsAtOnce) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t0");
  for (int i = 1; i <= 20000; ++i)
    cluster.submit("t" + std::to_string(i), after(spec({"t" + std::to_string(i - 1)})));
  EXPECT_EQ(cluster.fails("ann", "t0").size(), 20001u);
  EXPECT_EQ(cluster.queue().size(), 0u);
}

// ---------------------------------------------------------------- follow

TEST(TaskQueue, ATaskFollowsAnotherToItsEngine) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  EXPECT_EQ(cluster.submit("t2", follow(spec({"t1"}))), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2>ann"}));
}

TEST(TaskQueue, AFollowerWaitsForItsEngineEvenIfOthersAreFree) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  cluster.reply("ann", "t1");
  cluster.submit("t2", targets({"ann"}));
  EXPECT_EQ(cluster.submit("t3", follow(spec({"t1"}))), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t3>ann"}));
}

TEST(TaskQueue, AFollowerOfTasksOnTwoEnginesIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  cluster.submit("t2", targets({"bob"}));
  cluster.submit("t3", follow(spec({"t1", "t2"})));
  cluster.reply("ann", "t1");
  EXPECT_EQ(cluster.reply("bob", "t2"), (Texts{"t2=bob", "t3!ImpossibleDependency"}));
}

TEST(TaskQueue, AFollowerOfAnyMayRunWhereOneOfThemRan) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  cluster.submit("t2", targets({"bob"}));
  cluster.submit("t3", follow(spec({"t1", "t2"}, false)));
  EXPECT_EQ(cluster.reply("bob", "t2"), (Texts{"t2=bob", "t3>bob"}));
}

TEST(TaskQueue, AFollowerAndItsTargetsMustAgree) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  TaskRules rules = follow(spec({"t1"}));
  rules.targets.emplace_back("bob");
  EXPECT_EQ(cluster.submit("t2", rules), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann", "t2!ImpossibleDependency"}));
}

TEST(TaskQueue, AFollowerToADeadEngineIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  cluster.reply("ann", "t1");
  cluster.submit("t2", targets({"ann"}));
  cluster.submit("t3", follow(spec({"t1"})));
  EXPECT_EQ(cluster.leave("ann"), (Texts{"t3!ImpossibleDependency"}));
  EXPECT_EQ(cluster.submit("t4", follow(spec({"t1"}))), (Texts{"t4!ImpossibleDependency"}));
}

// ---------------------------------------------------------------- timeouts

TEST(TaskQueue, ATaskThatWaitsTooLongTimesOut) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2", retries(0, 2s));
  EXPECT_EQ(cluster.queue().next_deadline(), at(2s));
  EXPECT_EQ(cluster.clock(1999ms), Texts{});
  EXPECT_EQ(cluster.clock(2s), (Texts{"t2!TaskTimeout"}));
  EXPECT_EQ(cluster.queue().next_deadline(), std::nullopt);
}

TEST(TaskQueue, ARunningTaskDoesNotTimeOut) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1", retries(0, 2s));
  EXPECT_EQ(cluster.queue().next_deadline(), std::nullopt);
  EXPECT_EQ(cluster.clock(1h), Texts{});
}

TEST(TaskQueue, TheTimeoutAlsoEndsTheWaitForADependency) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  TaskRules rules = after(spec({"t1"}));
  rules.timeout = 1s;
  cluster.submit("t2", rules);
  EXPECT_EQ(cluster.clock(1s), (Texts{"t2!TaskTimeout"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskQueue, LookingAgainAtAWaitingTaskDoesNotStartItsTimeoutAnew) {
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

TEST(TaskQueue, AFailedTaskWithoutRetriesIsDelivered) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  EXPECT_EQ(cluster.fails("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskQueue, AFailedTaskWithRetriesGoesToAnotherEngine) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  EXPECT_EQ(cluster.submit("t1", retries(1)), (Texts{"t1>bob"}));
  EXPECT_EQ(cluster.fails("bob", "t1"), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.fails("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskQueue, AfterAllEnginesFailedTheyAreTriedAgainAfterAPause) {
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

TEST(TaskQueue, AShortTimeoutEndsThePause) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1", retries(3, 100ms));
  EXPECT_EQ(cluster.fails("ann", "t1"), Texts{});
  EXPECT_EQ(cluster.clock(100ms), (Texts{"t1!TaskTimeout"}));
  EXPECT_EQ(cluster.queue().next_deadline(), std::nullopt);
}

TEST(TaskQueue, ARetryOnTheOnlyTargetGoesThereAgain) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  TaskRules rules = targets({"ann"});
  rules.retries = 1;
  cluster.submit("t1", rules);
  cluster.fails("ann", "t1");
  EXPECT_EQ(cluster.clock(500ms), (Texts{"t1>ann again"}));
}

TEST(TaskQueue, ARetryWaitsForAnUntriedEngineThatIsBusy) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(1));  // bob
  cluster.submit("t2");              // ann
  EXPECT_EQ(cluster.fails("bob", "t1"), Texts{});
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann", "t1>ann"}));
}

TEST(TaskQueue, AnEngineThatJoinsGetsTheTaskThatFailedElsewhere) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(1));  // bob
  cluster.submit("t2");              // ann
  cluster.fails("bob", "t1");
  EXPECT_EQ(cluster.join("cid"), (Texts{"t1>cid"}));
}

TEST(TaskQueue, AnAbortedTaskIsDeliveredWhateverItsRetries) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(5));
  EXPECT_EQ(cluster.reply("bob", "t1", TaskOutcome::aborted), (Texts{"t1=bob"}));
  EXPECT_EQ(cluster.submit("t2", after(spec({"t1"}))), (Texts{"t2!ImpossibleDependency"}));
}

// ---------------------------------------------------------------- unmet dependencies

TEST(TaskQueue, AnUnmetDependencySendsTheTaskToAnotherEngineWithoutARetry) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1");
  EXPECT_EQ(cluster.unmet("bob", "t1"), (Texts{"t1>ann"}));
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
}

TEST(TaskQueue, ADependencyThatNoEngineMeetsIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(7));
  cluster.unmet("bob", "t1");
  EXPECT_EQ(cluster.unmet("ann", "t1"), (Texts{"t1!ImpossibleDependency"}));
}

TEST(TaskQueue, ADependencyThatItsOnlyTargetDoesNotMeetIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", targets({"ann"}));
  EXPECT_EQ(cluster.unmet("ann", "t1"), (Texts{"t1!ImpossibleDependency"}));
}

TEST(TaskQueue, AnEngineThatDoesNotMeetTheDependencyIsNotTriedAgain) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(2));
  cluster.unmet("bob", "t1");
  cluster.fails("ann", "t1");
  EXPECT_EQ(cluster.clock(500ms), (Texts{"t1>ann again"}));
}

TEST(TaskQueue, WhenTheLastEngineThatCouldRunItDiesTheTaskIsImpossible) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1");  // bob
  cluster.submit("t2");  // ann
  cluster.unmet("bob", "t1");
  EXPECT_EQ(cluster.leave("ann"), (Texts{"t1!ImpossibleDependency"}));
}

// ---------------------------------------------------------------- engine death

TEST(TaskQueue, ATaskOfADeadEngineFailsAfterFiveSeconds) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  EXPECT_EQ(cluster.leave("ann"), Texts{});
  EXPECT_EQ(cluster.queue().next_deadline(), at(5s));
  EXPECT_EQ(cluster.clock(5s), (Texts{"t1!EngineError"}));
  EXPECT_EQ(cluster.last_error(), "Engine 'ann' died while running task 't1'");
}

TEST(TaskQueue, AReplyWithinTheFiveSecondsWins) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.leave("ann");
  EXPECT_EQ(cluster.reply("ann", "t1"), (Texts{"t1=ann"}));
  EXPECT_EQ(cluster.clock(5s), Texts{});
}

TEST(TaskQueue, ATaskWithRetriesSurvivesItsEngine) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  cluster.submit("t1", retries(1));
  cluster.leave("bob");
  EXPECT_EQ(cluster.clock(5s), (Texts{"t1>ann"}));
}

TEST(TaskQueue, ADeadEngineGetsNoFurtherTask) {
  Cluster cluster;
  cluster.join("ann");
  cluster.leave("ann");
  EXPECT_EQ(cluster.submit("t1"), Texts{});
  EXPECT_EQ(cluster.join("bob"), (Texts{"t1>bob"}));
}

TEST(TaskQueue, AnEngineThatComesBackIsANewOneAndItsOldTaskIsStillGivenUp) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.leave("ann");
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t2"), (Texts{"t2>ann"}));
  EXPECT_EQ(cluster.clock(5s), (Texts{"t1!EngineError"}));
  EXPECT_EQ(cluster.reply("ann", "t2"), (Texts{"t2=ann"}));
}

TEST(TaskQueue, TheDeathOfAnEngineFailsTheDependentsOfItsTasks) {
  Cluster cluster;
  cluster.join("ann");
  cluster.submit("t1");
  cluster.submit("t2", after(spec({"t1"})));
  cluster.leave("ann");
  EXPECT_EQ(cluster.clock(5s), (Texts{"t1!EngineError", "t2!ImpossibleDependency"}));
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

}  // namespace
}  // namespace px
