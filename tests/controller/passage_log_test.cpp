#include "controller/hub/passage_log.hpp"

#include "tests/controller/hub_fixture.hpp"

namespace px::controller {
namespace {

constexpr auto nothing = nullptr;

/// What the hub tells of the requests that pass while a trace is on.
class PassageTest : public HubTest {
 protected:
  PassageTest() { join(3, "ann"); }
  Json trace(Json content) { return ask("trace_request", content).content.at("trace"); }
  void start(std::string id = "a") { trace({{"do", "start"}, {"id", std::move(id)}}); }
  Json take(std::string id = "a") { return trace({{"do", "take"}, {"id", std::move(id)}}); }
  std::int64_t after(Duration passed) const { return (begin_ + passed).time_since_epoch().count(); }
  const Instant begin_ = now_;
};

TEST_F(PassageTest, ADirectRequestIsGivenToItsEngineAsItComes) {
  start();
  now_ += 1s;
  submit_direct("1", "ann");
  now_ += 2s;
  finish_direct("1", "ann");
  EXPECT_EQ(take()["requests"],
            Json::array({{"1", "client one", 3, after(1s), after(1s), after(3s)}}));
}

TEST_F(PassageTest, ATaskWaitsUntilAnEngineGetsIt) {
  start();
  submit_task("1");
  now_ += 2s;
  assign("1", "ann");
  now_ += 1s;
  finish_task("1", "ann");
  EXPECT_EQ(take()["requests"],
            Json::array({{"1", "client one", 3, after(0s), after(2s), after(3s)}}));
}

TEST_F(PassageTest, WhatHasNotHappenedByTheEndIsNull) {
  start();
  submit_task("1");
  EXPECT_EQ(take()["requests"],
            Json::array({{"1", "client one", nothing, after(0s), nothing, nothing}}));
}

TEST_F(PassageTest, WhatAnEngineThatLeftHadIsAnsweredWhenItIsGivenUp) {
  start();
  submit_direct("1", "ann");
  leave("ann");
  now_ += 40s;
  hub_->on_time(wall_, now_);
  EXPECT_EQ(take()["requests"][0][5], after(40s));
}

TEST_F(PassageTest, OnlyRequestsThatComeDuringATraceAreInIt) {
  submit_direct("before", "ann");
  start();
  finish_direct("before", "ann");
  EXPECT_TRUE(hub_->is_tracing());
  const Json told = take();
  EXPECT_TRUE(told["requests"].empty());
  EXPECT_FALSE(told["has_more"]);
  EXPECT_FALSE(hub_->is_tracing());
  submit_direct("after", "ann");
  start();
  EXPECT_TRUE(take()["requests"].empty());
}

TEST_F(PassageTest, ATraceIsOverWhereAnotherOneHasBegun) {
  start("a");
  start("b");
  submit_direct("1", "ann");
  const Json told = take("a");
  EXPECT_TRUE(told["is_over"]);
  EXPECT_FALSE(told.contains("requests"));
  EXPECT_EQ(take("b")["requests"].size(), 1u);
}

TEST_F(PassageTest, EachAnswerTellsTheTimeAndWhoseItIs) {
  HubOptions options;
  options.sight.host = "node1";
  options.sight.pid = 77;
  options.sight.clock_name = "clock";
  make_hub(std::make_unique<MemoryStore>(), options);
  const Json told = trace(Json::object());
  EXPECT_EQ(told,
            Json({{"clock", after(0s)}, {"clock_name", "clock"}, {"host", "node1"}, {"pid", 77}}));
}

TEST(PassageLog, TellsTheFirstRequestsInPartsAndCountsTheRest) {
  PassageLog log;
  log.answer({{"do", "start"}, {"id", "a"}}, at(0s));
  for (std::size_t i = 0; i < PassageLog::most + 5; ++i)
    log.came(MessageId{std::to_string(i)}, "me", EngineId{0}, at(1s));
  std::size_t count = 0;
  Json told{{"has_more", true}};
  while (told["has_more"]) {
    told = log.answer({{"do", "take"}, {"id", "a"}}, at(2s));
    EXPECT_EQ(told["dropped"], 5);
    EXPECT_LE(told["requests"].size(), PassageLog::most_told);
    count += told["requests"].size();
  }
  EXPECT_EQ(count, PassageLog::most);
}

}  // namespace
}  // namespace px::controller
