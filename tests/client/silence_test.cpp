#include "client/connection/silence.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "client/requests/call.hpp"

namespace px::client {
namespace {

using namespace std::chrono_literals;

constexpr Instant begin{};
const Silence third{EngineId{3}, "host2", begin};
const Silence fifth{EngineId{5}, "", begin + 1s};

TEST(Silence, ConcernsThoseWhoWaitForThatEngineOrForAnyOne) {
  const auto call_on = [](std::optional<EngineId> engine) {
    return std::make_shared<Call>(std::vector<TaskSent>{{MessageId{"m"}, engine, {}, {}, {}}});
  };
  EXPECT_TRUE(call_on(EngineId{3})->may_wait_for(EngineId{3}));
  EXPECT_FALSE(call_on(EngineId{1})->may_wait_for(EngineId{3}));
  EXPECT_TRUE(call_on(std::nullopt)->may_wait_for(EngineId{3}));
  const auto ended = call_on(EngineId{3});
  ended->fail(0, {"EngineError", "", {}, EngineId{3}, ""}, WallTime{});
  EXPECT_FALSE(ended->may_wait_for(EngineId{3}));
}

TEST(Silence, IsToldWithTheEngineItsHostAndTheTime) {
  SilenceNews news;
  const auto told = news.take({third, fifth}, begin + 9s);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].find("engine 3 on host2 has not answered for 9 s: "), 0u) << told[0];
  EXPECT_NE(told[0].find("retries"), std::string::npos) << told[0];
  EXPECT_EQ(told[1].find("engine 5 has not answered for 8 s: "), 0u) << told[1];
}

TEST(Silence, IsToldOnceAndAgainWhenItComesAgain) {
  SilenceNews news;
  EXPECT_EQ(news.take({third}, begin + 9s).size(), 1u);
  EXPECT_TRUE(news.take({third}, begin + 12s).empty());
  Silence again = third;
  again.since += 1h;
  EXPECT_EQ(news.take({again}, again.since + 6s).size(), 1u);
}

}  // namespace
}  // namespace px::client
