#include <gtest/gtest.h>

#include "client/requests/pending.hpp"

namespace px::client {
namespace {

const MessageId first{"m_0"}, second{"m_1"};
const EngineUuid ann{"ann"}, bob{"bob"};

/// One call of two requests, to ann and to bob.
class PendingTest : public ::testing::Test {
 protected:
  void send(OutputEnd end) {
    pending.add(first, {call, 0, ann, end});
    pending.add(second, {call, 1, bob, end});
  }
  static ReplyHead ok(const MessageId& parent, std::optional<std::size_t> published = {}) {
    return {parent, TaskStatus::ok, published, "ann"};
  }
  static Publication text(const char* what) {
    return {"stream", {{"name", "stdout"}, {"text", what}}, {}, {}};
  }

  PendingRequests pending;
  std::shared_ptr<Call> call = std::make_shared<Call>(
      std::vector<TaskSent>{{first, EngineId{0}, ann, {}, {}}, {second, EngineId{1}, bob, {}, {}}});
};

TEST_F(PendingTest, AnAnswerIsOneOfItsCall) {
  send(OutputEnd::none);
  EXPECT_EQ(pending.unanswered(), 2u);
  EXPECT_TRUE(pending.answer(ok(first), {}, {}));
  EXPECT_EQ(call->answered(), 1u);
  EXPECT_FALSE(call->is_ready());
  EXPECT_TRUE(pending.answer(ok(second), {}, {}));
  EXPECT_TRUE(call->is_ready());
  EXPECT_EQ(pending.unanswered(), 0u);
}

TEST_F(PendingTest, NobodyWaitsForOutputThatWasDropped) {
  send(OutputEnd::by_count);
  pending.answer(ok(first, 5), {}, {});
  EXPECT_EQ(call->outputs_complete(), 0u);
  pending.lose_output();
  EXPECT_EQ(call->outputs_complete(), 1u);
  EXPECT_TRUE(pending.may_lack_output(second));
}

TEST_F(PendingTest, WhatTookAConnectionThatBrokeIsSentAgainAndOrdersAreLost) {
  const auto early =
      std::make_shared<SentRequest>(SentRequest{1, RequestChannel::balanced, {"early"}});
  const auto other =
      std::make_shared<SentRequest>(SentRequest{2, RequestChannel::direct, {"other"}});
  pending.add(first, {.call = call,
                      .task = 0,
                      .engine = {},
                      .output_end = OutputEnd::by_count,
                      .sent = early,
                      .channel = RequestChannel::balanced});
  pending.add(second, {.call = call,
                       .task = 1,
                       .engine = {},
                       .output_end = OutputEnd::by_count,
                       .sent = other,
                       .channel = RequestChannel::direct});
  pending.add(MessageId{"m_2"}, {.call = call,
                                 .task = 1,
                                 .engine = {},
                                 .output_end = OutputEnd::none,
                                 .channel = RequestChannel::hub});
  pending.add(MessageId{"m_3"}, {.call = call,
                                 .task = 1,
                                 .engine = {},
                                 .output_end = OutputEnd::by_leave,
                                 .channel = RequestChannel::control});
  const auto unanswered = pending.begin_again_by(
      {RequestChannel::balanced, RequestChannel::hub, RequestChannel::control});
  ASSERT_EQ(unanswered.to_send.size(), 1u);
  EXPECT_EQ(unanswered.to_send[0]->frames, std::vector<std::string>{"early"});
  EXPECT_EQ(unanswered.lost, std::vector{MessageId{"m_2"}});
  EXPECT_TRUE(pending.is_sent_again(first));
  EXPECT_FALSE(pending.is_sent_again(second));
  EXPECT_FALSE(pending.may_lack_output(first)) << "it took another connection";
}

TEST_F(PendingTest, AfterAControllerWasLostEachUnansweredRequestIsSentAgainInItsOrder) {
  const auto early =
      std::make_shared<SentRequest>(SentRequest{1, RequestChannel::balanced, {"early"}});
  const auto late =
      std::make_shared<SentRequest>(SentRequest{2, RequestChannel::broadcast, {"late"}});
  pending.add(second, {call, 1, {}, OutputEnd::by_count, late});
  pending.add(MessageId{"m_2"}, {call, 1, {}, OutputEnd::by_count, late});
  pending.add(first, {call, 0, {}, OutputEnd::by_count, early});
  pending.add(MessageId{"m_3"}, {call, 1, {}, OutputEnd::none});
  const PendingRequests::Unanswered unanswered = pending.begin_again();
  ASSERT_EQ(unanswered.to_send.size(), 2u);
  EXPECT_EQ(unanswered.to_send[0]->frames, std::vector<std::string>{"early"});
  EXPECT_EQ(unanswered.to_send[1]->frames, std::vector<std::string>{"late"});
  EXPECT_EQ(unanswered.lost, std::vector{MessageId{"m_3"}});
}

TEST_F(PendingTest, AfterABrokenConnectionTheRequestsToThatEngineAreSentAgain) {
  const auto to_ann =
      std::make_shared<SentRequest>(SentRequest{1, RequestChannel::direct, {"to ann"}});
  const auto to_bob =
      std::make_shared<SentRequest>(SentRequest{2, RequestChannel::direct, {"to bob"}});
  pending.add(first, {call, 0, ann, OutputEnd::by_count, to_ann});
  pending.add(second, {call, 1, bob, OutputEnd::by_count, to_bob});
  const auto requests = pending.begin_again_with(ann);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0]->frames, std::vector<std::string>{"to ann"});
  EXPECT_TRUE(pending.may_lack_output(first));
  EXPECT_FALSE(pending.may_lack_output(second));
  pending.answer(ok(first, 0), {}, {});
  EXPECT_EQ(call->outputs_complete(), 1u);
  EXPECT_TRUE(pending.begin_again_with(ann).empty());
}

TEST_F(PendingTest, AfterAControllerWasLostOutputThatMayBeLostIsNotWaitedForForEver) {
  send(OutputEnd::by_count);
  pending.answer(ok(first, 7), {}, {});
  EXPECT_EQ(call->outputs_complete(), 0u);
  pending.begin_again();
  EXPECT_EQ(call->outputs_complete(), 1u);
  pending.answer(ok(second, 7), {}, {});
  EXPECT_TRUE(pending.may_lack_output(second));
  pending.publish(second, text("what is left of it"));
  EXPECT_EQ(call->outputs_complete(), 1u);
  pending.finish_output(second);
  EXPECT_EQ(call->outputs_complete(), 2u);
}

TEST_F(PendingTest, NobodyWaitsForASecondOrAStrangeAnswer) {
  send(OutputEnd::none);
  pending.answer(ok(first), {}, {});
  EXPECT_FALSE(pending.answer(ok(first), {}, {}));
  EXPECT_FALSE(pending.answer(ok(MessageId{"x"}), {}, {}));
  EXPECT_FALSE(pending.publish(MessageId{"x"}, text("lost")));
}

TEST_F(PendingTest, WhatIsPrintedAfterTheEndIsAddedAsLongAsSomebodyHasTheCall) {
  send(OutputEnd::by_idle);
  pending.answer(ok(first), {}, {});
  pending.finish_output(first);
  EXPECT_EQ(call->outputs_complete(), 1u);
  EXPECT_TRUE(pending.publish(first, text("late")));
  EXPECT_EQ(call->text(0, "stdout"), "late");
  pending.answer(ok(second), {}, {});
  pending.finish_output(second);
  call.reset();
  EXPECT_FALSE(pending.publish(first, text("too late")));
}

TEST_F(PendingTest, AnEngineThatWasAskedToEndHasAnsweredWhenItLeft) {
  send(OutputEnd::by_leave);
  pending.lose_engine(ann, EngineId{0}, {}, {"", "it shuts down"});
  EXPECT_FALSE(call->info(0).failure);
  EXPECT_EQ(call->info(0).reply.content(), (Json{{"status", "ok"}}));
  EXPECT_FALSE(pending.answer(ok(first), {}, {})) << "its own answer, which came late";
  pending.answer(ok(second), {}, {});
  EXPECT_EQ(call->outputs_complete(), 2u);
}

TEST_F(PendingTest, OutputEndsWithIdleWhicheverComesFirst) {
  send(OutputEnd::by_idle);
  pending.publish(first, text("a"));
  pending.answer(ok(first), {}, {});
  pending.publish(first, text("b"));
  EXPECT_EQ(call->outputs_complete(), 0u);
  pending.finish_output(first);
  EXPECT_EQ(call->outputs_complete(), 1u);
  pending.finish_output(second);
  EXPECT_EQ(call->outputs_complete(), 1u) << "it is not answered yet";
  pending.answer(ok(second), {}, {});
  EXPECT_EQ(call->outputs_complete(), 2u);
  EXPECT_EQ(call->text(0, "stdout"), "ab");
}

TEST_F(PendingTest, OutputEndsWithTheNumberOfPublicationsThatTheReplyNames) {
  send(OutputEnd::by_count);
  pending.answer(ok(first, 0), {}, {});
  EXPECT_EQ(call->outputs_complete(), 1u);
  pending.publish(second, text("a"));
  pending.answer(ok(second, 2), {}, {});
  EXPECT_EQ(call->outputs_complete(), 1u);
  pending.publish(second, text("b"));
  EXPECT_EQ(call->outputs_complete(), 2u);
}

TEST_F(PendingTest, AnEngineThatLeavesFailsWhatItHasNotAnswered) {
  send(OutputEnd::by_idle);
  pending.answer(ok(first), {}, {});
  pending.lose_engine(ann, EngineId{0}, {});
  pending.lose_engine(bob, EngineId{1}, {}, {"host2", "its heart stopped"});
  EXPECT_EQ(call->status(0), TaskStatus::ok) << "answered before it left";
  EXPECT_EQ(call->outputs_complete(), 2u);
  const TaskInfo lost = call->info(1);
  EXPECT_EQ(lost.failure->name, "EngineError");
  EXPECT_EQ(lost.failure->value,
            "Engine 1 on host2 died while running task 'm_1': its heart stopped");
  EXPECT_EQ(pending.unanswered(), 0u);
}

TEST_F(PendingTest, TheErrorOfALostEngineNamesTheLastLineThatItPrinted) {
  send(OutputEnd::by_idle);
  pending.publish(second, text("step 1\nstep 2\n\n"));
  pending.lose_engine(bob, EngineId{1}, {}, {"", "it ended; the last lines of its log:\n    | x"});
  EXPECT_EQ(call->info(1).failure->value,
            "Engine 1 died while running task 'm_1': it ended; the last line of its output: "
            "'step 2'; the last lines of its log:\n    | x");
}

TEST_F(PendingTest, WhatIsAbortedHasNoOutput) {
  send(OutputEnd::by_idle);
  pending.answer({first, TaskStatus::aborted, {}, "ann"}, {}, {});
  EXPECT_EQ(call->outputs_complete(), 1u);
  EXPECT_EQ(call->status(0), TaskStatus::aborted);
}

TEST_F(PendingTest, WhatTheControllerItselfRefusesHasNoOutput) {
  send(OutputEnd::by_idle);
  pending.answer({first, TaskStatus::error, {}, ""}, {}, {});
  EXPECT_EQ(call->outputs_complete(), 1u);
}

TEST_F(PendingTest, AllFailsWhenTheControllerIsLost) {
  send(OutputEnd::by_idle);
  pending.fail_all({"ConnectionLost", "gone", {}, {}, ""}, {});
  EXPECT_TRUE(call->is_ready());
  EXPECT_EQ(call->info(0).failure->value, "gone");
}

TEST_F(PendingTest, HandlersRunOnceForEachAnswerAndOnceForAll) {
  send(OutputEnd::none);
  std::vector<std::size_t> answered;
  int ready = 0;
  pending.answer(ok(first), {}, {});
  call->on_answer([&](std::size_t task) { answered.push_back(task); });
  call->on_ready([&] { ++ready; });
  pending.answer(ok(second), {}, {});
  EXPECT_EQ(answered, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(ready, 1);
  call->on_ready([&] { ++ready; });
  EXPECT_EQ(ready, 2) << "it was ready already";
}

TEST_F(PendingTest, EventsAreReadFromWhereOneStopped) {
  send(OutputEnd::by_count);
  pending.publish(first, text("a"));
  pending.answer(ok(first, 1), {}, {});
  const auto events = call->events(0, Instant{});
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, CallEvent::Kind::published);
  EXPECT_EQ(events[1].kind, CallEvent::Kind::answered);
  EXPECT_EQ(events[2].kind, CallEvent::Kind::output_complete);
  EXPECT_TRUE(call->events(3, Instant{}).empty());
}

}  // namespace
}  // namespace px::client
