#include "controller/sight/request_log.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{};
constexpr WallTime noon{std::chrono::seconds(1'000'000)};

SeenRequest task_of(std::string msg_id, std::string session = "ann") {
  return {.msg_id = MessageId{msg_id},
          .session = std::move(session),
          .username = "user",
          .kind = "task",
          .label = "solve",
          .bytes = 100};
}
SeenAnswer answer_to(std::string msg_id, std::string status = "ok") {
  return {.msg_id = MessageId{msg_id}, .status = std::move(status), .bytes = 10};
}

class RequestLogTest : public testing::Test {
 protected:
  void submit(std::string msg_id, Duration at = 0s, std::string session = "ann") {
    log.submitted(task_of(std::move(msg_id), std::move(session)), start + at,
                  noon + std::chrono::duration_cast<std::chrono::microseconds>(at));
  }
  void finish(const SeenAnswer& answer, Duration at = 1s) {
    log.finished(answer, EngineId{3},
                 noon + std::chrono::duration_cast<std::chrono::microseconds>(at));
  }
  Snapshot look(Duration at) {
    Snapshot snapshot;
    log.look(snapshot, start + at);
    return snapshot;
  }
  RequestLog log;
};

TEST_F(RequestLogTest, CountsWhatCameAndWhatEnded) {
  for (const char* msg_id : {"1", "2", "3"}) submit(msg_id);
  finish(answer_to("1"));
  finish(answer_to("2", "error"));
  const Snapshot seen = look(2s);
  EXPECT_EQ(seen.work.submitted_total, 3u);
  EXPECT_EQ(seen.work.finished_total, 2u);
  EXPECT_EQ(seen.work.failed_total, 1u);
  EXPECT_EQ(seen.controller.in_bytes_total, 300u);
  EXPECT_EQ(seen.controller.out_bytes_total, 20u);
}

TEST_F(RequestLogTest, CountsRequestsByTheirLabels) {
  const auto finish_labelled = [&](std::string msg_id, std::string label, std::string kind) {
    SeenRequest request = task_of(msg_id);
    request.label = std::move(label);
    request.kind = std::move(kind);
    log.submitted(request, start, noon);
    SeenAnswer answer = answer_to(msg_id, msg_id == "2" ? "error" : "ok");
    answer.started = noon + 250ms;
    finish(answer, 1s);
  };
  finish_labelled("1", "solve", "task");
  finish_labelled("2", "solve", "apply");
  finish_labelled("3", "plot", "task");
  finish_labelled("4", "x = 1", "execute");
  finish_labelled("5", "", "task");
  const Snapshot seen = look(2s);
  ASSERT_EQ(seen.labels.size(), 2u);
  EXPECT_EQ(seen.labels[0].name, "plot");
  EXPECT_EQ(seen.labels[1].name, "solve");
  EXPECT_EQ(seen.labels[1].finished_total, 2u);
  EXPECT_EQ(seen.labels[1].failed_total, 1u);
  EXPECT_DOUBLE_EQ(seen.labels[1].run_seconds_total, 1.5);
}

TEST_F(RequestLogTest, LabelsBeyondTheBoundAreCountedTogether) {
  const auto finish_labelled = [&](std::size_t number, std::size_t label) {
    SeenRequest request = task_of(std::to_string(number));
    request.label = "label " + std::to_string(label);
    log.submitted(request, start, noon);
    finish(answer_to(std::to_string(number)));
  };
  for (std::size_t i = 0; i < Snapshot::max_labels + 5; ++i) finish_labelled(i, i);
  finish_labelled(1000, 0);
  const Snapshot seen = look(2s);
  ASSERT_EQ(seen.labels.size(), Snapshot::max_labels + 1);
  EXPECT_EQ(seen.labels[0].name, "(other)");
  EXPECT_EQ(seen.labels[0].finished_total, 5u);
  EXPECT_EQ(seen.labels[1].name, "label 0");
  EXPECT_EQ(seen.labels[1].finished_total, 2u);
}

TEST_F(RequestLogTest, TheRatesAreThoseSinceTheLastLook) {
  submit("1");
  EXPECT_EQ(look(1s).work.submitted_rate, 0);
  for (const char* msg_id : {"2", "3", "4", "5"}) submit(msg_id);
  finish(answer_to("1"));
  const Snapshot seen = look(3s);
  EXPECT_DOUBLE_EQ(seen.interval, 2);
  EXPECT_DOUBLE_EQ(seen.work.submitted_rate, 2);
  EXPECT_DOUBLE_EQ(seen.work.finished_rate, 0.5);
}

TEST_F(RequestLogTest, AFinishedRequestIsShownOnceWithItsTimes) {
  submit("1", 0s);
  SeenAnswer answer = answer_to("1");
  answer.started = noon + 400ms;
  finish(answer, 1s);
  const auto finished = look(2s).finished;
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].msg_id, "1");
  EXPECT_EQ(finished[0].engine, EngineId{3});
  EXPECT_EQ(finished[0].label, "solve");
  EXPECT_EQ(finished[0].session, "ann");
  EXPECT_TRUE(finished[0].is_ok);
  EXPECT_DOUBLE_EQ(finished[0].submitted, 1'000'000);
  EXPECT_DOUBLE_EQ(finished[0].started, 1'000'000.4);
  EXPECT_DOUBLE_EQ(finished[0].ended, 1'000'001);
  EXPECT_TRUE(look(3s).finished.empty());
}

TEST_F(RequestLogTest, ClocksOfEnginesThatAreWrongChangeNoOrder) {
  submit("1", 1s);
  SeenAnswer early = answer_to("1");
  early.started = noon - 1h;
  finish(early, 2s);
  submit("2", 1s);
  SeenAnswer late = answer_to("2");
  late.started = noon + 1h;
  finish(late, 2s);
  const auto finished = look(3s).finished;
  EXPECT_DOUBLE_EQ(finished.at(0).started, finished[0].submitted);
  EXPECT_DOUBLE_EQ(finished.at(1).started, finished[1].ended);
}

TEST_F(RequestLogTest, MoreThanAPageCanShowAreCounted) {
  for (std::size_t i = 0; i < Snapshot::max_finished + 5; ++i) {
    submit(std::to_string(i));
    finish(answer_to(std::to_string(i)));
  }
  const Snapshot seen = look(1s);
  EXPECT_EQ(seen.finished.size(), Snapshot::max_finished);
  EXPECT_EQ(seen.finished_left_out, 5u);
  EXPECT_EQ(look(2s).finished_left_out, 0u);
}

TEST_F(RequestLogTest, ATaskWaitsUntilItIsGivenToAnEngineForTheFirstTime) {
  submit("1", 0s);
  log.assigned(MessageId{"1"}, false, start + 2s);
  log.assigned(MessageId{"1"}, false, start + 10s);  // recalled from its first engine
  log.assigned(MessageId{"1"}, true, start + 30s);
  log.assigned(MessageId{"unknown"}, false, start + 30s);
  const Snapshot seen = look(40s);
  EXPECT_EQ(seen.work.assigned_total, 4u);
  EXPECT_EQ(seen.work.retried_total, 1u);
  EXPECT_EQ(seen.queueing_total.count(), 1u);
  EXPECT_DOUBLE_EQ(seen.queueing_total.sum(), 2);
}

TEST_F(RequestLogTest, ClientsAreShownWithTheLatestFirst) {
  submit("1", 0s, "ann");
  submit("2", 5s, "bob");
  finish(answer_to("1", "error"));
  const auto clients = look(6s).clients;
  ASSERT_EQ(clients.size(), 2u);
  EXPECT_EQ(clients[0].session, "bob");
  EXPECT_EQ(clients[0].unfinished, 1u);
  EXPECT_EQ(clients[0].last_seen, 1);
  EXPECT_EQ(clients[1].session, "ann");
  EXPECT_EQ(clients[1].name, "user");
  EXPECT_EQ(clients[1].unfinished, 0u);
  EXPECT_EQ(clients[1].failed_total, 1u);
}

TEST_F(RequestLogTest, AClientThatAskedLongAgoAndWaitsForNothingIsForgotten) {
  submit("1", 0s, "ann");
  submit("2", 0s, "bob");
  finish(answer_to("1"));
  const auto clients = look(RequestLog::client_memory + 1s).clients;
  ASSERT_EQ(clients.size(), 1u);
  EXPECT_EQ(clients[0].session, "bob");
}

TEST_F(RequestLogTest, ManyClientsTakeBoundedMemory) {
  for (int i = 0; i < 1000; ++i)
    submit(std::to_string(i), std::chrono::milliseconds(i), "client " + std::to_string(i));
  const auto clients = look(2s).clients;
  EXPECT_EQ(clients.size(), Snapshot::max_clients);
  EXPECT_EQ(clients.front().session, "client 999");
  finish(answer_to("0"));  // of a client that is not shown any more
  EXPECT_EQ(look(3s).finished.size(), 1u);
}

TEST_F(RequestLogTest, RequestsBeyondTheBoundAreCountedOnly) {
  for (std::size_t i = 0; i <= RequestLog::max_followed; ++i) submit(std::to_string(i));
  finish(answer_to(std::to_string(RequestLog::max_followed)));
  const Snapshot seen = look(1s);
  EXPECT_EQ(seen.work.submitted_total, RequestLog::max_followed + 1);
  EXPECT_EQ(seen.work.finished_total, 1u);
  EXPECT_TRUE(seen.finished.empty());
}

TEST_F(RequestLogTest, ARequestThatIsToldOfTwiceIsFollowedOnce) {
  submit("1");
  submit("1");
  EXPECT_EQ(look(1s).clients.at(0).unfinished, 1u);
  finish(answer_to("1"));
  EXPECT_EQ(look(2s).clients.at(0).unfinished, 0u);
}

}  // namespace
}  // namespace px::controller
