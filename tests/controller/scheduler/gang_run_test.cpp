#include "controller/scheduler/gang_run.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/controller/task_queue_fixture.hpp"

namespace px::controller {
namespace {

using MemberKeys = std::vector<WorkerKey>;

/// A gang of ann (1), bob (2) and cleo (3), who may go on for 3 s when one of them has failed.
class GangOfThree : public testing::Test {
 protected:
  void reply(WorkerKey worker, TaskOutcome outcome, Duration when = 0s) {
    run_.replied(worker, outcome, replies_.at(worker - 1), at(when));
  }
  /// Whose reply the attempt ends with.
  std::size_t reply_number() const {
    for (std::size_t i = 0; i < replies_.size(); ++i)
      if (run_.end().reply == replies_[i]) return i + 1;
    return 0;
  }

  GangRun run_{{1, 2, 3}, 3s};

 private:
  const std::vector<SharedFrames> replies_{std::make_shared<TextFrames>(),
                                           std::make_shared<TextFrames>(),
                                           std::make_shared<TextFrames>()};
};

TEST_F(GangOfThree, IsOverWhenAllHaveReplied) {
  reply(2, TaskOutcome::ok);
  EXPECT_EQ(run_.running(), (MemberKeys{1, 3}));
  reply(1, TaskOutcome::ok);
  EXPECT_FALSE(run_.is_over());
  reply(3, TaskOutcome::ok);
  EXPECT_TRUE(run_.is_over());
}

TEST_F(GangOfThree, TheReplyOfTheFirstRankIsTheAnswer) {
  for (const WorkerKey worker : MemberKeys{3, 2, 1}) reply(worker, TaskOutcome::ok);
  EXPECT_EQ(run_.end().outcome, TaskOutcome::ok);
  EXPECT_EQ(reply_number(), 1u);
}

TEST_F(GangOfThree, TheFirstFailureIsTheAnswer) {
  reply(1, TaskOutcome::ok);
  reply(3, TaskOutcome::failed, 1s);
  reply(2, TaskOutcome::failed, 3s);  // it has waited for the other one
  EXPECT_EQ(run_.end().outcome, TaskOutcome::failed);
  EXPECT_EQ(reply_number(), 3u);
}

TEST_F(GangOfThree, AnEngineThatCannotRunItIsTheAnswerIfItIsTheFirst) {
  reply(2, TaskOutcome::unmet);
  reply(1, TaskOutcome::failed, 2s);
  reply(3, TaskOutcome::failed, 2s);
  EXPECT_EQ(run_.end().outcome, TaskOutcome::unmet);
  EXPECT_EQ(run_.end().worker, 2u);
}

TEST_F(GangOfThree, ADeathExplainsWhatTheOthersSay) {
  reply(1, TaskOutcome::failed, 1s);
  run_.left(2, at(2s));
  reply(3, TaskOutcome::failed, 3s);
  EXPECT_EQ(run_.end().worker, 2u);
  EXPECT_EQ(run_.end().reply, nullptr);
}

TEST_F(GangOfThree, OthersAreInterruptedSomeTimeAfterAFailureUntilTheyReply) {
  EXPECT_EQ(run_.next_deadline(), std::nullopt);
  reply(2, TaskOutcome::failed, 1s);
  EXPECT_EQ(run_.next_deadline(), at(4s));
  EXPECT_EQ(run_.take_overdue(at(3900ms)), MemberKeys{});
  reply(3, TaskOutcome::failed, 3900ms);
  EXPECT_EQ(run_.take_overdue(at(4s)), (MemberKeys{1}));
  EXPECT_EQ(run_.next_deadline(), at(7s));
  EXPECT_EQ(run_.take_overdue(at(6900ms)), MemberKeys{});
  EXPECT_EQ(run_.take_overdue(at(7s)), (MemberKeys{1}));
  reply(1, TaskOutcome::failed, 8s);
  EXPECT_EQ(run_.next_deadline(), std::nullopt);
  EXPECT_EQ(run_.take_overdue(at(19s)), MemberKeys{});
}

TEST_F(GangOfThree, NobodyIsInterruptedIfAllHaveReplied) {
  for (const WorkerKey worker : MemberKeys{1, 2, 3}) reply(worker, TaskOutcome::failed);
  EXPECT_EQ(run_.next_deadline(), std::nullopt);
  EXPECT_EQ(run_.take_overdue(at(9s)), MemberKeys{});
}

TEST_F(GangOfThree, ASecondReplyChangesNothing) {
  reply(1, TaskOutcome::ok);
  reply(1, TaskOutcome::failed);
  reply(2, TaskOutcome::ok);
  reply(3, TaskOutcome::ok);
  EXPECT_EQ(run_.end().outcome, TaskOutcome::ok);
}

TEST_F(GangOfThree, StrangersDoNotCount) {
  reply(1, TaskOutcome::ok);
  reply(2, TaskOutcome::ok);
  run_.left(9, at(0s));
  EXPECT_EQ(run_.running(), (MemberKeys{3}));
}

TEST(GangRun, TheResultsOfRanksThatSucceededAreTakenIfAnotherOneFailed) {
  GangRun run{{1, 2}, 3s};
  const auto result = std::make_shared<TextFrames>(std::vector<std::string>{"result"});
  run.replied(1, TaskOutcome::ok, result, Instant{});
  run.replied(2, TaskOutcome::failed, std::make_shared<TextFrames>(), Instant{});
  const std::vector<SharedFrames> results = run.take_results();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results.front(), result);
}

}  // namespace
}  // namespace px::controller
