#include <gtest/gtest.h>

#include <px/kernel/request_queue.hpp>

#include "tests/kernel/requests.hpp"

namespace px::kernel {
namespace {

struct Describe {
  std::string operator()(const PublishStatus& effect) const {
    return effect.is_busy ? "busy" : "idle";
  }
  std::string operator()(const SendReply& effect) const {
    return reply_type_of(*effect.request) + " " + effect.content.dump();
  }
  std::string operator()(const AnswerUsage&) const { return "usage"; }
  std::string operator()(const Interrupt&) const { return "interrupt"; }
  std::string operator()(const WakeMain&) const { return "wake"; }
  std::string operator()(const Stop& effect) const {
    return effect.is_restart ? "stop for a restart" : "stop";
  }
  std::string operator()(const Warn&) const { return "warn"; }
};

std::string text(const std::vector<Effect>& effects) {
  std::string line;
  for (const Effect& each : effects)
    line += (line.empty() ? "" : ", ") + std::visit(Describe{}, each);
  return line;
}

std::string next(RequestQueue& queue) {
  const std::optional<Job> job = queue.take();
  if (!job) return "nothing";
  return job->request->header.msg_id.text + (job->is_aborted ? " aborted" : "");
}

TEST(RequestQueue, CellsRunOneAfterTheOther) {
  RequestQueue queue{{}};
  EXPECT_EQ(text(queue.arrive(request("execute_request", "a"))), "wake");
  queue.arrive(request("execute_request", "b"));
  EXPECT_FALSE(queue.is_busy());
  EXPECT_EQ(next(queue), "a");
  EXPECT_TRUE(queue.is_busy());
  queue.finish();
  EXPECT_EQ(next(queue), "b");
  queue.finish();
  EXPECT_EQ(next(queue), "nothing");
  EXPECT_FALSE(queue.is_busy());
}

TEST(RequestQueue, AFailedCellAbortsTheCellsBehindItAndNothingElse) {
  RequestQueue queue{{}};
  for (const char* id : {"failing", "b", "c"}) queue.arrive(request("execute_request", id));
  queue.arrive(request("complete_request", "question"));
  EXPECT_EQ(next(queue), "failing");
  queue.abort_queued_executions();
  queue.arrive(request("execute_request", "later"));
  EXPECT_EQ(next(queue), "b aborted");
  EXPECT_EQ(next(queue), "c aborted");
  EXPECT_EQ(next(queue), "question");
  EXPECT_EQ(next(queue), "later");
  EXPECT_EQ(text(RequestQueue::answer_aborted(request("execute_request"))),
            R"(busy, execute_reply {"status":"aborted"}, idle)");
}

TEST(RequestQueue, OrdersOfTheControlChannelAreAnsweredAtOnce) {
  RequestQueue queue{{{"hb_port", 5}}};
  EXPECT_EQ(text(queue.arrive(control_request("interrupt_request"))),
            R"(busy, interrupt_reply {"status":"ok"}, interrupt, idle)");
  EXPECT_EQ(text(queue.arrive(control_request("usage_request"))), "busy, usage, idle");
  EXPECT_EQ(text(queue.arrive(control_request("connect_request"))),
            R"(busy, connect_reply {"hb_port":5}, idle)");
  EXPECT_EQ(next(queue), "nothing");
}

TEST(RequestQueue, AShutdownIsAnsweredBeforeTheKernelStops) {
  RequestQueue queue{{}};
  EXPECT_EQ(text(queue.arrive(control_request("shutdown_request", R"({"restart": true})"))),
            R"(busy, shutdown_reply {"restart":true,"status":"ok"}, idle, stop for a restart)");
  EXPECT_EQ(text(queue.arrive(control_request("shutdown_request"))),
            R"(busy, shutdown_reply {"restart":false,"status":"ok"}, idle, stop)");
}

TEST(RequestQueue, AShutdownOnTheShellChannelWaitsForTheCellsBeforeIt) {
  RequestQueue queue{{}};
  queue.arrive(request("execute_request", "a"));
  EXPECT_EQ(text(queue.arrive(request("shutdown_request", "b"))), "wake");
  EXPECT_EQ(next(queue), "a");
  EXPECT_EQ(next(queue), "b");
  EXPECT_TRUE(queue.is_order(*request("shutdown_request")));
}

TEST(RequestQueue, WhatTheKernelIsCanBeAskedWhileUserCodeRuns) {
  RequestQueue queue{{}};
  EXPECT_EQ(text(queue.arrive(control_request("kernel_info_request"))), "wake");
  EXPECT_EQ(next(queue), "id");
  queue.set_kernel_info({{"banner", "hello"}});
  EXPECT_EQ(text(queue.arrive(control_request("kernel_info_request"))),
            R"(busy, kernel_info_reply {"banner":"hello"}, idle)");
  EXPECT_EQ(text(queue.arrive(request("kernel_info_request"))), "wake");
}

TEST(RequestQueue, ADebuggerIsRefusedInItsOwnProtocol) {
  RequestQueue queue{{}};
  const std::string effects =
      text(queue.arrive(control_request("debug_request", R"({"seq": 7, "command": "attach"})")));
  EXPECT_NE(effects.find(R"("request_seq":7)"), std::string::npos);
  EXPECT_NE(effects.find(R"("success":false)"), std::string::npos);
}

TEST(RequestQueue, AnUnknownRequestIsRefused) {
  RequestQueue queue{{}};
  const std::string effects = text(queue.arrive(request("dance_request")));
  EXPECT_NE(effects.find("busy, warn, dance_reply"), std::string::npos);
  EXPECT_NE(effects.find("NotImplementedError"), std::string::npos);
  EXPECT_EQ(next(queue), "nothing");
}

}  // namespace
}  // namespace px::kernel
