#include <gtest/gtest.h>

#include <csignal>

#include "engine/engine_format.hpp"
#include "jupyter/request_queue.hpp"
#include "tests/jupyter/effects.hpp"
#include "tests/wire/requests.hpp"
#include "wire/checked_json.hpp"
#include "wire/message_type.hpp"

namespace px::engine {
namespace {

using jupyter::Effect;
using jupyter::replied;
using jupyter::SendReply;
using jupyter::words;
using testing::Sender;

/// The request queue as an engine has it.
class EngineRequestsTest : public ::testing::Test {
 protected:
  EngineRequestsTest() { format->set_id(EngineId{3}); }
  std::string taken() { return jupyter::taken(queue); }
  std::vector<Effect> arrive(RequestPtr request) {
    return queue.arrive(std::move(request), WallTime{});
  }
  std::string id_of(const RequestPtr& request) { return request->header.msg_id.text; }

  std::shared_ptr<EngineFormat> format = std::make_shared<EngineFormat>(EngineUuid{"engine-uuid"});
  jupyter::ReplyFormats formats{{format, std::make_shared<ConsoleFormat>(format)}};
  jupyter::RequestQueue queue{formats, std::size_t{3} << 20};
  Sender client;
  Sender console{"its own key", 1};  // a Jupyter client that is connected to the engine itself
};

TEST_F(EngineRequestsTest, WorkWaitsForTheMainThreadInItsOrder) {
  EXPECT_EQ(words(arrive(client.request("execute_request"))), "wake");
  EXPECT_EQ(words(arrive(client.request("apply_request"))), "wake");
  EXPECT_EQ(taken(), "execute_request");
  EXPECT_EQ(taken(), "apply_request");
  EXPECT_EQ(taken(), "nothing");
}

TEST_F(EngineRequestsTest, WhatIsTooMuchToHoldIsRefusedAndTheRestStays) {
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
  EXPECT_EQ(queue.queued_bytes(), 0u);
}

TEST_F(EngineRequestsTest, WhatTheControlChannelAsksOfTheInterpreterPassesTheQueue) {
  arrive(client.request("apply_request"));
  arrive(client.order("clear_request"));
  EXPECT_EQ(taken(), "clear_request");
  EXPECT_EQ(taken(), "apply_request");
}

TEST_F(EngineRequestsTest, OrdersAreAnsweredWhileTheMainThreadIsBusy) {
  arrive(client.request("apply_request"));
  queue.take();
  EXPECT_EQ(words(arrive(client.order("connect_request"))), "busy reply:connect_reply idle");
  EXPECT_EQ(words(arrive(client.order("usage_request"))), "busy usage idle");
  EXPECT_EQ(words(arrive(client.order("interrupt_request"))),
            "busy reply:interrupt_reply interrupt idle");
}

TEST_F(EngineRequestsTest, ASignalIsRaisedAfterItsReplyWhoseTypeIsOddOnPurpose) {
  EXPECT_EQ(words(arrive(client.order("signal_request", {{"sig", SIGUSR1}}))),
            "reply:_request signal:" + std::to_string(SIGUSR1));
  EXPECT_EQ(words(arrive(client.order("signal_request", {{"sig", "SIGINT"}}))),
            "reply:_request interrupt");
}

TEST_F(EngineRequestsTest, AnAnswerOfTheUserReachesTheCodeThatAsksWhileItRuns) {
  arrive(client.request("execute_request"));
  queue.take();
  EXPECT_EQ(words(arrive(client.order("answer_request", {{"prompt", 3}, {"value", "p x"}}))),
            "busy input:{\"prompt\":3,\"value\":\"p x\"} reply:answer_reply idle");
  EXPECT_EQ(words(arrive(console.order("answer_request"))), "busy warn reply:answer_reply idle");
}

/// Whether an order that came interrupts what runs.
bool interrupts(jupyter::RequestQueue& queue, const std::vector<Effect>& effects) {
  for (const Effect& effect : effects)
    if (const auto* each = std::get_if<jupyter::Interrupt>(&effect))
      return queue.interrupt(each->scope);
  ADD_FAILURE() << "no interrupt in " << words(effects);
  return false;
}

TEST_F(EngineRequestsTest, AnInterruptThatNamesRequestsHitsNoOther) {
  const RequestPtr first = client.request("apply_request");
  const RequestPtr second = client.request("apply_request");
  arrive(first);
  arrive(second);
  const auto stop_first =
      arrive(client.order("signal_request", {{"sig", SIGINT}, {"msg_ids", {id_of(first)}}}));
  queue.take();
  queue.begin(Instant{});
  EXPECT_TRUE(interrupts(queue, stop_first));
  queue.finish();
  EXPECT_FALSE(interrupts(queue, stop_first));
  queue.take();
  queue.begin(Instant{});
  EXPECT_FALSE(interrupts(queue, stop_first));
}

TEST_F(EngineRequestsTest, AnInterruptCanSpareWhatItsClientAsksForLater) {
  const Json content{{"sig", "SIGINT"}, {"spares_newer", true}};
  const auto early = arrive(client.order("signal_request", content));
  arrive(client.request("apply_request"));
  const auto late = arrive(client.order("signal_request", content));
  queue.take();
  queue.begin(Instant{});
  EXPECT_FALSE(interrupts(queue, early));
  EXPECT_TRUE(interrupts(queue, late));
}

TEST_F(EngineRequestsTest, AnInterruptOfAClientThatNamesNothingHitsWhatRuns) {
  const auto early = arrive(client.order("signal_request", {{"sig", "SIGINT"}}));
  EXPECT_FALSE(interrupts(queue, early));
  arrive(client.request("apply_request"));
  queue.take();
  queue.begin(Instant{});
  EXPECT_TRUE(interrupts(queue, early));
}

TEST_F(EngineRequestsTest, AnInterruptOfWhatIsTakenAndHasNotBegunHitsItWhenItBegins) {
  for (int i = 0; i < 2; ++i) arrive(client.request("apply_request"));
  queue.take();
  EXPECT_FALSE(interrupts(queue, arrive(client.order("signal_request", {{"sig", SIGINT}}))));
  EXPECT_TRUE(queue.begin(Instant{}));
  queue.finish();
  queue.take();
  EXPECT_FALSE(queue.begin(Instant{}));
}

const jupyter::AnswerUsage* usage(const std::vector<jupyter::Effect>& effects) {
  for (const jupyter::Effect& effect : effects)
    if (const auto* each = std::get_if<jupyter::AnswerUsage>(&effect)) return each;
  return nullptr;
}

TEST_F(EngineRequestsTest, WhatRunsAndWhatWaitsIsToldWhileUserCodeRuns) {
  const RequestPtr first = client.request("execute_request", {{"code", "\n  slow()\nmore()"}});
  for (const RequestPtr& each : {first, client.request("execute_request")}) arrive(each);
  queue.take();
  const auto before = arrive(client.order("usage_request", Json::object()));
  EXPECT_FALSE(usage(before)->running);
  queue.begin(Instant{} + std::chrono::seconds(7));
  const auto effects = arrive(client.order("usage_request", Json::object()));
  ASSERT_TRUE(usage(effects) && usage(effects)->running);
  EXPECT_EQ(usage(effects)->queued, 1u);
  EXPECT_EQ(id_of(usage(effects)->running->request), id_of(first));
  EXPECT_EQ(usage(effects)->running->since, Instant{} + std::chrono::seconds(7));
}

TEST_F(EngineRequestsTest, WhoAsksForThePlaceGetsIdleBehindTheAnswerWhichComesLater) {
  queue.end_cell("ValueError");
  const auto effects = arrive(client.order("usage_request", {{"place", true}}));
  EXPECT_EQ(words(effects), "busy usage");
  EXPECT_TRUE(usage(effects)->asks_place);
  EXPECT_EQ(usage(effects)->last_error, "ValueError");
  queue.end_cell("");
  EXPECT_EQ(usage(arrive(client.order("usage_request", {{"place", true}})))->last_error, "");
}

TEST_F(EngineRequestsTest, WhoAsksForStacksGetsThePlaceToo) {
  const auto effects = arrive(client.order("usage_request", {{"stacks", true}}));
  EXPECT_EQ(words(effects), "busy usage");
  EXPECT_TRUE(usage(effects)->asks_place);
  EXPECT_EQ(usage(effects)->stacks, os::StackScope::all);
  EXPECT_FALSE(usage(arrive(client.order("usage_request", {{"place", true}})))->stacks);
}

TEST_F(EngineRequestsTest, StacksOfWhatRunsAreNoStacksOfWhatWaits) {
  const auto effects = arrive(client.order("usage_request", {{"stacks", "running"}}));
  EXPECT_TRUE(usage(effects)->asks_place);
  EXPECT_EQ(usage(effects)->stacks, os::StackScope::running_main);
  for (const Json& wrong : {Json("all"), Json(1), Json(nullptr), Json::object()})
    EXPECT_FALSE(usage(arrive(client.order("usage_request", {{"stacks", wrong}})))->asks_place)
        << wrong;
}

TEST_F(EngineRequestsTest, ANameThatIsNoSignalIsAnErrorAndRaisesNothing) {
  const auto effects = arrive(client.order("signal_request", {{"sig", "SIGNOTHING"}}));
  EXPECT_EQ(words(effects), "reply:_request");
  EXPECT_NE(std::get<SendReply>(effects[0]).content.find("\"error\""), std::string::npos);
}

TEST_F(EngineRequestsTest, ARequestThatIsAbortedBeforeItRunsIsNotRun) {
  const RequestPtr first = client.request("apply_request");
  const RequestPtr second = client.request("apply_request");
  arrive(first);
  arrive(second);
  EXPECT_EQ(words(arrive(client.order("abort_request", {{"msg_ids", {id_of(second)}}}))),
            "busy reply:abort_reply idle");
  EXPECT_EQ(taken(), "apply_request");
  EXPECT_EQ(taken(), "apply_request aborted");
}

TEST_F(EngineRequestsTest, AnAbortIsRememberedForARequestThatComesLater) {
  const RequestPtr later = client.request("apply_request");
  arrive(client.order("abort_request", {{"msg_ids", id_of(later)}}));
  arrive(later);
  EXPECT_EQ(taken(), "apply_request aborted");
}

TEST_F(EngineRequestsTest, AnAbortOfAllAbortsTheCellsThatWait) {
  arrive(client.request("execute_request"));
  arrive(client.request("apply_request"));
  arrive(client.order("abort_request", {{"msg_ids", Json::array()}}));
  EXPECT_EQ(taken(), "execute_request aborted");
  EXPECT_EQ(taken(), "apply_request");
}

TEST_F(EngineRequestsTest, ACellThatFailsAbortsTheCellsBehindItButNotTheTasks) {
  const RequestPtr failed = client.request("execute_request");
  for (const char* type : {"execute_request", "apply_request", "execute_request"})
    arrive(client.request(type));
  queue.abort_queued_executions(failed);
  arrive(client.request("execute_request"));
  EXPECT_EQ(taken(), "execute_request aborted");
  EXPECT_EQ(taken(), "apply_request");
  EXPECT_EQ(taken(), "execute_request aborted");
  EXPECT_EQ(taken(), "execute_request");
}

TEST_F(EngineRequestsTest, AnAbortedRequestIsAnsweredWithTheMetadataThatSchedulersNeed) {
  const RequestPtr request = client.request("apply_request", Json::object(), Channel::shell,
                                            {{"is_broadcast", true}, {"original_msg_id", "m1"}});
  const auto effects = queue.answer_aborted(request, WallTime{});
  ASSERT_EQ(words(effects), "busy reply:apply_reply idle");
  const Json metadata = Json::parse(std::get<SendReply>(effects[1]).metadata);
  EXPECT_EQ(metadata["status"], "aborted");
  EXPECT_EQ(metadata["is_broadcast"], true);
  EXPECT_EQ(metadata["original_msg_id"], "m1");
}

TEST_F(EngineRequestsTest, UnknownTypesAndApplyOnTheControlChannelGetNoReply) {
  EXPECT_EQ(words(arrive(client.request("dance_request"))), "busy warn idle");
  EXPECT_EQ(words(arrive(client.order("apply_request"))), "busy warn idle");
}

TEST_F(EngineRequestsTest, OurOwnRequestsAreWorkInOrderWithTheOthers) {
  for (const char* type : {"push_request", "execute_request", "call_request", "pull_request"})
    EXPECT_EQ(words(arrive(client.request(type))), "wake");
  EXPECT_EQ(taken(), "push_request");
  EXPECT_EQ(taken(), "execute_request");
  EXPECT_EQ(taken(), "call_request");
  EXPECT_EQ(taken(), "pull_request");
  EXPECT_EQ(words(arrive(client.order("call_request"))), "warn");
}

TEST_F(EngineRequestsTest, NoStatusIsPublishedForOurOwnRequestsThatDoNotRun) {
  const auto aborted = queue.answer_aborted(client.request("call_request"), WallTime{});
  ASSERT_EQ(words(aborted), "reply:call_reply");
  EXPECT_EQ(Json::parse(std::get<SendReply>(aborted[0]).metadata)["published"], 0);
  const Json much{{"values", {{"x", {{"json", std::string(4 << 20, ' ')}}}}}};
  const auto refused = arrive(client.request("push_request", much));
  ASSERT_EQ(words(refused), "reply:push_reply");
  const auto& reply = std::get<SendReply>(refused[0]);
  EXPECT_EQ(Json::parse(reply.content)["ename"], "Overloaded");
  EXPECT_EQ(Json::parse(reply.metadata)["published"], 0);
}

TEST_F(EngineRequestsTest, AnOrderThatCannotBeReadIsAnsweredByAnError) {
  Json nested = "innermost";
  for (std::size_t depth = 0; depth < max_json_depth; ++depth) nested = Json::array({nested});
  for (const char* type : {"abort_request", "signal_request"}) {
    const auto effects = arrive(client.order(type, {{"deep", nested}}));
    EXPECT_EQ(replied(effects)["ename"], "ValueError") << words(effects);
  }
  EXPECT_EQ(replied(arrive(client.order("abort_request")))["evalue"],
            "an abort_request names no msg_ids");
}

// ---------------------------------------------------------------- consoles

TEST_F(EngineRequestsTest, CellsOfAConsoleAndOfTheClusterWaitInOneQueue) {
  for (Sender* sender : {&client, &console, &client}) arrive(sender->request("execute_request"));
  EXPECT_EQ(queue.take()->request->peer, 0u);
  EXPECT_EQ(queue.take()->request->peer, 1u);
  EXPECT_EQ(queue.take()->request->peer, 0u);
}

TEST_F(EngineRequestsTest, AConsoleDoesNotEndTheEngineAndIsToldSo) {
  for (const Channel channel : {Channel::control, Channel::shell}) {
    const RequestPtr request = console.request("shutdown_request", {{"restart", false}}, channel);
    EXPECT_TRUE(queue.is_order(*request));
    const auto effects = queue.answer(request);
    EXPECT_EQ(words(effects), "busy warn reply:shutdown_reply idle");
    const Json reply = replied(effects);
    EXPECT_EQ(reply["status"], "error");
    EXPECT_EQ(reply["evalue"].get<std::string>().find("engine 3 goes on"), 0u);
  }
  EXPECT_EQ(words(arrive(client.order("shutdown_request"))),
            "busy reply:shutdown_reply shutdown idle stop");
}

TEST_F(EngineRequestsTest, AConsoleSpeaksJupytersProtocolAndNoMore) {
  for (const char* type : {"apply_request", "push_request", "abort_request", "signal_request"}) {
    const auto effects = arrive(console.order(type));
    EXPECT_EQ(words(effects), "busy warn reply:" + reply_type(type) + " idle");
    EXPECT_EQ(replied(effects)["evalue"],
              std::string("engine 3 does not know the request ") + type);
  }
  EXPECT_EQ(taken(), "nothing");
}

TEST_F(EngineRequestsTest, RepliesToAConsoleHaveAKernelsMetadata) {
  const auto effects = arrive(console.order("usage_request"));
  EXPECT_EQ(words(effects), "busy usage idle");
  const auto metadata = [this](Sender& sender) {
    return std::get<SendReply>(arrive(sender.order("connect_request"))[1]).metadata;
  };
  EXPECT_EQ(metadata(console), "{}");
  EXPECT_EQ(metadata(client), "{\"engine\": \"engine-uuid\"}");
}

TEST_F(EngineRequestsTest, ACellThatFailsAbortsNoCellOfAnotherPeer) {
  for (Sender* sender : {&console, &client}) arrive(sender->request("execute_request"));
  queue.abort_queued_executions(client.request("execute_request"));
  EXPECT_EQ(taken(), "execute_request");
  EXPECT_EQ(taken(), "execute_request aborted");
}

}  // namespace
}  // namespace px::engine
