#include <gtest/gtest.h>

#include <csignal>

#include <px/engine/engine.hpp>
#include <tests/wire/requests.hpp>

namespace px {
namespace {

using testing::Sender;

/// The effects as one line, e.g. "busy reply:abort_reply idle".
std::string words(const std::vector<Effect>& effects) {
  struct Words {
    std::string operator()(const PublishStatus& each) { return each.is_busy ? "busy" : "idle"; }
    std::string operator()(const SendReply& each) { return "reply:" + each.type; }
    std::string operator()(const PublishShutdown&) { return "shutdown"; }
    std::string operator()(const RaiseSignal& each) {
      return "signal:" + std::to_string(each.number);
    }
    std::string operator()(const Interrupt&) { return "interrupt"; }
    std::string operator()(const AnswerUsage&) { return "usage"; }
    std::string operator()(const WakeMain&) { return "wake"; }
    std::string operator()(const Stop&) { return "stop"; }
    std::string operator()(const Warn&) { return "warn"; }
  };
  std::string line;
  for (const Effect& effect : effects)
    line += (line.empty() ? "" : " ") + std::visit(Words{}, effect);
  return line;
}

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() { engine.set_id(EngineId{3}); }
  std::string taken() {
    const std::optional<Job> job = engine.take();
    if (!job) return "nothing";
    engine.finish();
    return job->request->type() + (job->is_aborted ? " aborted" : "");
  }
  std::vector<Effect> arrive(RequestPtr request) {
    return engine.arrive(std::move(request), WallTime{});
  }
  std::string id_of(const RequestPtr& request) { return request->header.msg_id.text; }

  Engine engine{EngineUuid{"engine-uuid"}, Packer::json, std::size_t{3} << 20};
  Sender client;
};

TEST_F(EngineTest, WorkWaitsForTheMainThreadInItsOrder) {
  EXPECT_EQ(words(arrive(client.request("execute_request"))), "wake");
  EXPECT_EQ(words(arrive(client.request("apply_request"))), "wake");
  EXPECT_EQ(taken(), "execute_request");
  EXPECT_EQ(taken(), "apply_request");
  EXPECT_EQ(taken(), "nothing");
}

TEST_F(EngineTest, WhatIsTooMuchToHoldIsRefusedAndTheRestStays) {
  const Json megabyte{{"code", std::string(1 << 20, ' ')}};
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(words(arrive(client.request("execute_request", megabyte))), "wake");
  const auto refused = arrive(client.request("execute_request", megabyte));
  ASSERT_EQ(words(refused), "busy reply:execute_reply idle");
  const auto& reply = std::get<SendReply>(refused[1]);
  EXPECT_EQ(Json::parse(reply.content)["ename"], "Overloaded");
  EXPECT_EQ(Json::parse(reply.metadata)["status"], "error");
  EXPECT_EQ(words(arrive(client.order("usage_request"))), "busy usage idle");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(taken(), "execute_request");
  EXPECT_EQ(engine.queued_bytes(), 0u);
}

TEST_F(EngineTest, WhatTheControlChannelAsksOfTheInterpreterPassesTheQueue) {
  arrive(client.request("apply_request"));
  arrive(client.order("clear_request"));
  EXPECT_EQ(taken(), "clear_request");
  EXPECT_EQ(taken(), "apply_request");
}

TEST_F(EngineTest, IsBusyFromTakingARequestUntilItIsFinished) {
  arrive(client.request("apply_request"));
  EXPECT_FALSE(engine.is_busy());
  engine.take();
  EXPECT_TRUE(engine.is_busy());
  engine.finish();
  EXPECT_FALSE(engine.is_busy());
}

TEST_F(EngineTest, OrdersAreAnsweredWhileTheMainThreadIsBusy) {
  arrive(client.request("apply_request"));
  engine.take();
  EXPECT_EQ(words(arrive(client.order("connect_request"))), "busy reply:connect_reply idle");
  EXPECT_EQ(words(arrive(client.order("usage_request"))), "busy usage idle");
  EXPECT_EQ(words(arrive(client.order("interrupt_request"))),
            "busy reply:interrupt_reply interrupt idle");
}

TEST_F(EngineTest, AShutdownIsAnsweredBeforeTheEngineEnds) {
  EXPECT_EQ(words(arrive(client.order("shutdown_request"))),
            "busy reply:shutdown_reply shutdown idle stop");
}

TEST_F(EngineTest, ASignalIsRaisedAfterItsReplyWhoseTypeIsOddOnPurpose) {
  EXPECT_EQ(words(arrive(client.order("signal_request", {{"sig", SIGUSR1}}))),
            "reply:_request signal:" + std::to_string(SIGUSR1));
  EXPECT_EQ(words(arrive(client.order("signal_request", {{"sig", "SIGINT"}}))),
            "reply:_request signal:" + std::to_string(SIGINT));
}

TEST_F(EngineTest, ANameThatIsNoSignalIsAnErrorAndRaisesNothing) {
  const auto effects = arrive(client.order("signal_request", {{"sig", "SIGNOTHING"}}));
  EXPECT_EQ(words(effects), "reply:_request");
  EXPECT_NE(std::get<SendReply>(effects[0]).content.find("\"error\""), std::string::npos);
}

TEST_F(EngineTest, ARequestThatIsAbortedBeforeItRunsIsNotRun) {
  const RequestPtr first = client.request("apply_request");
  const RequestPtr second = client.request("apply_request");
  arrive(first);
  arrive(second);
  EXPECT_EQ(words(arrive(client.order("abort_request", {{"msg_ids", {id_of(second)}}}))),
            "busy reply:abort_reply idle");
  EXPECT_EQ(taken(), "apply_request");
  EXPECT_EQ(taken(), "apply_request aborted");
}

TEST_F(EngineTest, AnAbortIsRememberedForARequestThatComesLater) {
  const RequestPtr later = client.request("apply_request");
  arrive(client.order("abort_request", {{"msg_ids", id_of(later)}}));
  arrive(later);
  EXPECT_EQ(taken(), "apply_request aborted");
}

TEST_F(EngineTest, AnAbortOfAllAbortsTheCellsThatWait) {
  arrive(client.request("execute_request"));
  arrive(client.request("apply_request"));
  arrive(client.order("abort_request", {{"msg_ids", Json::array()}}));
  EXPECT_EQ(taken(), "execute_request aborted");
  EXPECT_EQ(taken(), "apply_request");
}

TEST_F(EngineTest, ACellThatFailsAbortsTheCellsBehindItButNotTheTasks) {
  for (const char* type : {"execute_request", "apply_request", "execute_request"})
    arrive(client.request(type));
  engine.abort_queued_executions();
  arrive(client.request("execute_request"));
  EXPECT_EQ(taken(), "execute_request aborted");
  EXPECT_EQ(taken(), "apply_request");
  EXPECT_EQ(taken(), "execute_request aborted");
  EXPECT_EQ(taken(), "execute_request");
}

TEST_F(EngineTest, AnAbortedRequestIsAnsweredWithTheMetadataThatSchedulersNeed) {
  const RequestPtr request = client.request("apply_request", Json::object(), Channel::shell,
                                            {{"is_broadcast", true}, {"original_msg_id", "m1"}});
  const auto effects = engine.answer_aborted(request, WallTime{});
  ASSERT_EQ(words(effects), "busy reply:apply_reply idle");
  const Json metadata = Json::parse(std::get<SendReply>(effects[1]).metadata);
  EXPECT_EQ(metadata["status"], "aborted");
  EXPECT_EQ(metadata["is_broadcast"], true);
  EXPECT_EQ(metadata["original_msg_id"], "m1");
}

TEST_F(EngineTest, UnknownTypesAndApplyOnTheControlChannelGetNoReply) {
  EXPECT_EQ(words(arrive(client.request("dance_request"))), "busy warn idle");
  EXPECT_EQ(words(arrive(client.order("apply_request"))), "busy warn idle");
}

TEST_F(EngineTest, OurOwnRequestsAreWorkInOrderWithTheOthers) {
  for (const char* type : {"push_request", "execute_request", "call_request", "pull_request"})
    EXPECT_EQ(words(arrive(client.request(type))), "wake");
  EXPECT_EQ(taken(), "push_request");
  EXPECT_EQ(taken(), "execute_request");
  EXPECT_EQ(taken(), "call_request");
  EXPECT_EQ(taken(), "pull_request");
  EXPECT_EQ(words(arrive(client.order("call_request"))), "warn");
}

TEST_F(EngineTest, NoStatusIsPublishedForOurOwnRequestsThatDoNotRun) {
  const auto aborted = engine.answer_aborted(client.request("call_request"), WallTime{});
  ASSERT_EQ(words(aborted), "reply:call_reply");
  EXPECT_EQ(Json::parse(std::get<SendReply>(aborted[0]).metadata)["published"], 0);
  const Json much{{"values", {{"x", {{"json", std::string(4 << 20, ' ')}}}}}};
  const auto refused = arrive(client.request("push_request", much));
  ASSERT_EQ(words(refused), "reply:push_reply");
  const auto& reply = std::get<SendReply>(refused[0]);
  EXPECT_EQ(Json::parse(reply.content)["ename"], "Overloaded");
  EXPECT_EQ(Json::parse(reply.metadata)["published"], 0);
}

TEST_F(EngineTest, AnAbortWithoutIdsGetsNoReply) {
  EXPECT_EQ(words(arrive(client.order("abort_request"))), "busy warn idle");
}

}  // namespace
}  // namespace px
