#include <gtest/gtest.h>

#include "jupyter/request_queue.hpp"
#include "tests/jupyter/effects.hpp"
#include "tests/wire/requests.hpp"

namespace px::jupyter {
namespace {

using namespace std::chrono_literals;
using testing::Sender;

class RequestQueueTest : public ::testing::Test {
 protected:
  std::vector<Effect> arrive(RequestPtr request) {
    return queue.arrive(std::move(request), WallTime{});
  }

  ReplyFormats formats{{std::make_shared<ReplyFormat>()}};
  RequestQueue queue{formats, std::size_t{3} << 20};
  Sender client;
};

TEST_F(RequestQueueTest, CellsRunOneAfterTheOther) {
  EXPECT_EQ(words(arrive(client.request("execute_request"))), "wake");
  arrive(client.request("complete_request"));
  EXPECT_EQ(taken(queue), "execute_request");
  EXPECT_EQ(taken(queue), "complete_request");
  EXPECT_EQ(taken(queue), "nothing");
}

TEST_F(RequestQueueTest, AnOrderThatCannotBeReadIsAnsweredByAnError) {
  Json nested = "innermost";
  for (std::size_t depth = 0; depth < max_json_depth; ++depth) nested = Json::array({nested});
  for (const char* type : {"shutdown_request", "usage_request"}) {
    const auto effects = arrive(client.order(type, {{"deep", nested}}));
    EXPECT_EQ(replied(effects)["ename"], "ValueError") << words(effects);
  }
}

TEST_F(RequestQueueTest, WhatGoesFirstPassesWhatDoesNotInItsOwnOrder) {
  const auto first = [this](const char* type) {
    const auto frames = client.frames(type);
    const Envelope envelope = *Envelope::locate(*frames);
    Json header = *unpack(Packer::json, envelope.header);
    header["goes_first"] = true;
    Request request{.frames = frames, .envelope = envelope, .header = {}};
    request.header.msg_type = type;
    return std::pair(pack(Packer::json, header), request);
  };
  arrive(client.request("execute_request"));
  std::vector<std::string> headers;  // that the requests look into
  headers.reserve(2);
  for (const char* type : {"complete_request", "inspect_request"}) {
    auto [header, request] = first(type);
    request.envelope.header = headers.emplace_back(std::move(header));
    arrive(std::make_shared<Request>(std::move(request)));
  }
  EXPECT_EQ(taken(queue), "complete_request");
  EXPECT_EQ(taken(queue), "inspect_request");
  EXPECT_EQ(taken(queue), "execute_request");
}

TEST_F(RequestQueueTest, AJobSaysWhenItsRequestArrived) {
  const WallTime now{std::chrono::microseconds(17)};
  queue.arrive(client.request("execute_request"), now);
  const std::optional<Job> job = queue.take();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->arrived, now);
}

TEST_F(RequestQueueTest, AQuestionForATraceIsHandedOn) {
  const auto wish_of = [this](const Json& content) {
    for (const Effect& effect : arrive(client.order("usage_request", content)))
      if (const auto* answer = std::get_if<AnswerUsage>(&effect)) return answer->trace;
    return std::optional<Json>();
  };
  EXPECT_EQ(wish_of(Json::object()), std::nullopt);
  EXPECT_EQ(wish_of({{"trace", {{"do", "take"}}}}), (Json{{"do", "take"}}));
}

TEST_F(RequestQueueTest, IsBusyFromTakingARequestUntilItIsFinished) {
  arrive(client.request("execute_request"));
  EXPECT_FALSE(queue.is_busy());
  queue.take();
  EXPECT_TRUE(queue.is_busy());
  queue.finish();
  EXPECT_FALSE(queue.is_busy());
}

TEST_F(RequestQueueTest, WhatIsTooMuchToHoldIsRefusedAndTheRestStays) {
  const Json megabyte{{"code", std::string(1 << 20, ' ')}};
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(words(arrive(client.request("execute_request", megabyte))), "wake");
  const auto refused = arrive(client.request("execute_request", megabyte));
  ASSERT_EQ(words(refused), "busy reply:execute_reply idle");
  EXPECT_EQ(replied(refused)["ename"], "Overloaded");
  EXPECT_EQ(words(arrive(client.order("usage_request"))), "busy usage idle");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(taken(queue), "execute_request");
  EXPECT_EQ(queue.queued_bytes(), 0u);
}

TEST_F(RequestQueueTest, WhatHasNotBegunIsTakenBackAndDoesNotRun) {
  const RequestPtr first = client.request("execute_request");
  const RequestPtr second = client.request("execute_request");
  arrive(first);
  arrive(second);
  EXPECT_EQ(queue.take_back(1, 0, second->header.msg_id), nullptr);
  EXPECT_EQ(queue.take_back(0, 1, second->header.msg_id), nullptr);
  EXPECT_EQ(queue.take_back(0, 0, second->header.msg_id), second);
  EXPECT_EQ(queue.take_back(0, 0, second->header.msg_id), nullptr);
  EXPECT_EQ(taken(queue), "execute_request");
  EXPECT_EQ(queue.take_back(0, 0, first->header.msg_id), nullptr);
  EXPECT_EQ(taken(queue), "nothing");
  EXPECT_EQ(queue.queued_bytes(), 0u);
}

TEST_F(RequestQueueTest, AllThatHasNotBegunIsTakenBackButWhatIsAborted) {
  const RequestPtr failed = client.request("execute_request");
  arrive(client.request("execute_request"));
  queue.abort_queued_executions(failed);
  const RequestPtr later = client.request("execute_request");
  arrive(later);
  EXPECT_EQ(queue.take_back_all(0, 0), (std::vector{later}));
  EXPECT_EQ(taken(queue), "execute_request aborted");
  EXPECT_EQ(taken(queue), "nothing");
}

TEST_F(RequestQueueTest, AFailedCellAbortsTheCellsBehindItAndNothingElse) {
  const RequestPtr failed = client.request("execute_request");
  for (const char* type : {"execute_request", "complete_request", "execute_request"})
    arrive(client.request(type));
  queue.abort_queued_executions(failed);
  arrive(client.request("execute_request"));
  EXPECT_EQ(taken(queue), "execute_request aborted");
  EXPECT_EQ(taken(queue), "complete_request");
  EXPECT_EQ(taken(queue), "execute_request aborted");
  EXPECT_EQ(taken(queue), "execute_request");
  const auto aborted = queue.answer_aborted(client.request("execute_request"), WallTime{});
  EXPECT_EQ(words(aborted), "busy reply:execute_reply idle");
  EXPECT_EQ(replied(aborted), (Json{{"status", "aborted"}}));
}

TEST_F(RequestQueueTest, ACellThatIsInterruptedDoesNotAbortTheCellsThatCameAfterTheInterrupt) {
  const RequestPtr stopped = client.request("execute_request");
  arrive(stopped);
  queue.take();
  queue.begin(Instant{});
  arrive(client.request("execute_request"));
  EXPECT_TRUE(queue.interrupt({}));
  const RequestPtr next = client.request("execute_request");
  arrive(next);
  arrive(client.request("execute_request"));
  queue.abort_queued_executions(stopped);
  queue.finish();
  EXPECT_EQ(taken(queue), "execute_request aborted");
  const std::optional<Job> job = queue.take();
  ASSERT_EQ(job->request, next);
  EXPECT_FALSE(job->is_aborted);
  queue.abort_queued_executions(next);  // it fails by itself
  queue.finish();
  EXPECT_EQ(taken(queue), "execute_request aborted");
}

TEST_F(RequestQueueTest, AnInterruptOfAnotherCellDoesNotSpareTheCellsBehindAFailedOne) {
  const RequestPtr failed = client.request("execute_request");
  arrive(failed);
  queue.take();
  queue.begin(Instant{});
  EXPECT_FALSE(queue.interrupt({.msg_ids = {{"another"}}}));
  arrive(client.request("execute_request"));
  queue.abort_queued_executions(failed);
  queue.finish();
  EXPECT_EQ(taken(queue), "execute_request aborted");
}

TEST_F(RequestQueueTest, OrdersOfTheControlChannelAreAnsweredWhileTheMainThreadIsBusy) {
  arrive(client.request("execute_request"));
  queue.take();
  EXPECT_EQ(words(arrive(client.order("interrupt_request"))),
            "busy reply:interrupt_reply interrupt idle");
  EXPECT_EQ(words(arrive(client.order("usage_request"))), "busy usage idle");
  queue.set_connect_reply({{"hb_port", 5}});
  EXPECT_EQ(replied(arrive(client.order("connect_request"))), (Json{{"hb_port", 5}}));
  EXPECT_EQ(taken(queue), "nothing");
}

TEST_F(RequestQueueTest, WhatTheControlChannelAsksOfTheInterpreterPassesTheQueue) {
  arrive(client.request("execute_request"));
  arrive(client.order("complete_request"));
  EXPECT_EQ(taken(queue), "complete_request");
  EXPECT_EQ(taken(queue), "execute_request");
}

TEST_F(RequestQueueTest, AReportSaysWhatRunsAndWhatRan) {
  arrive(client.request("execute_request"));
  arrive(client.request("execute_request"));
  EXPECT_EQ(queue.take_report().queued, 2u);
  queue.take();
  EXPECT_FALSE(queue.take_report().running) << "it has not begun";
  queue.begin(Instant{} + 5s);
  EXPECT_EQ(queue.take_report().running->since, Instant{} + 5s);
  EXPECT_EQ(queue.take_report().requests, 0u);
  queue.count(false, Instant{} + 7s);
  queue.finish();
  queue.take();
  queue.begin(Instant{} + 7s);
  queue.end_cell("ValueError");
  queue.count(true, Instant{} + 8s);
  queue.finish();
  const WorkReport report = queue.take_report();
  EXPECT_FALSE(report.running);
  EXPECT_EQ(report.requests, 2u);
  EXPECT_EQ(report.errors, 1u);
  EXPECT_EQ(report.last_error, "ValueError");
  EXPECT_DOUBLE_EQ(report.durations.sum(), 3);
  EXPECT_TRUE(queue.take_report().durations.is_empty());
}

TEST_F(RequestQueueTest, WhatIsAnsweredWithoutRunningIsNotCounted) {
  arrive(client.request("execute_request"));
  queue.take();
  queue.count(false, Instant{});
  queue.finish();
  queue.count(false, Instant{});
  EXPECT_EQ(queue.take_report().requests, 0u);
}

TEST_F(RequestQueueTest, AShutdownIsAnsweredBeforeTheProcessStops) {
  const auto effects = arrive(client.order("shutdown_request", {{"restart", true}}));
  EXPECT_EQ(words(effects), "busy reply:shutdown_reply shutdown-for-restart idle stop");
  EXPECT_EQ(replied(effects), (Json{{"status", "ok"}, {"restart", true}}));
  EXPECT_EQ(words(arrive(client.order("shutdown_request"))),
            "busy reply:shutdown_reply shutdown idle stop");
}

TEST_F(RequestQueueTest, AShutdownOnTheShellChannelWaitsForTheCellsBeforeIt) {
  arrive(client.request("execute_request"));
  EXPECT_EQ(words(arrive(client.request("shutdown_request"))), "wake");
  EXPECT_EQ(taken(queue), "execute_request");
  EXPECT_EQ(taken(queue), "shutdown_request");
  EXPECT_TRUE(queue.is_order(*client.request("shutdown_request")));
}

TEST_F(RequestQueueTest, WhatTheKernelIsCanBeAskedWhileUserCodeRuns) {
  EXPECT_EQ(words(arrive(client.order("kernel_info_request"))), "wake");
  EXPECT_EQ(taken(queue), "kernel_info_request");
  queue.set_kernel_info({{"banner", "hello"}});
  EXPECT_EQ(replied(arrive(client.order("kernel_info_request"))), (Json{{"banner", "hello"}}));
  EXPECT_EQ(words(arrive(client.request("kernel_info_request"))), "wake");
}

TEST_F(RequestQueueTest, ADebuggerIsRefusedInItsOwnProtocol) {
  const Json reply =
      replied(arrive(client.order("debug_request", {{"seq", 7}, {"command", "attach"}})));
  EXPECT_EQ(reply["request_seq"], 7);
  EXPECT_EQ(reply["command"], "attach");
  EXPECT_EQ(reply["success"], false);
}

TEST_F(RequestQueueTest, AnUnknownRequestIsRefusedAndSoIsWhatOnlyEnginesServe) {
  for (const char* type : {"dance_request", "apply_request", "signal_request"}) {
    const auto effects = arrive(client.request(type));
    EXPECT_EQ(words(effects).find("busy warn reply:"), 0u) << type;
    EXPECT_EQ(replied(effects)["ename"], "NotImplementedError");
  }
  EXPECT_EQ(taken(queue), "nothing");
}

}  // namespace
}  // namespace px::jupyter
