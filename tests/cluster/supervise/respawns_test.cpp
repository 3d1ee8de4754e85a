#include "cluster/supervise/respawns.hpp"

#include <gtest/gtest.h>

namespace px::cluster {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<int>;

Instant at(Duration time) {
  return Instant{} + time;
}

TEST(Respawns, StartsADeadEngineAtOnce) {
  Respawns respawns{2};
  EXPECT_EQ(respawns.next_due(), std::nullopt);
  respawns.died(3);
  EXPECT_LE(respawns.next_due(), at(0s));
  EXPECT_EQ(respawns.take_due(at(0s)), (Numbers{3}));
  EXPECT_EQ(respawns.next_due(), std::nullopt);
}

TEST(Respawns, StartsNoMoreThanTheLimitWithinAMinute) {
  Respawns respawns{2};
  for (const int number : {5, 4, 3}) respawns.died(number);
  EXPECT_EQ(respawns.take_due(at(10s)), (Numbers{5, 4}));
  EXPECT_TRUE(respawns.is_limited(at(10s)));
  EXPECT_EQ(respawns.next_due(), at(70s));
  EXPECT_TRUE(respawns.take_due(at(69s)).empty());
  EXPECT_EQ(respawns.take_due(at(70s)), (Numbers{3}));
}

TEST(Respawns, EachStartCountsForItsOwnMinute) {
  Respawns respawns{2};
  respawns.died(0);
  respawns.take_due(at(0s));
  respawns.died(0);
  respawns.take_due(at(40s));
  respawns.died(0);
  respawns.died(1);
  EXPECT_EQ(respawns.next_due(), at(60s));
  EXPECT_EQ(respawns.take_due(at(60s)), (Numbers{0}));
  EXPECT_EQ(respawns.next_due(), at(100s));
}

TEST(Respawns, AnEngineWaitsOnlyOnce) {
  Respawns respawns{9};
  respawns.died(7);
  respawns.died(7);
  EXPECT_EQ(respawns.take_due(at(0s)), (Numbers{7}));
}

TEST(Respawns, AnEngineThatIsStartedOtherwiseDoesNotWaitAnyMore) {
  Respawns respawns{9};
  respawns.died(7);
  EXPECT_TRUE(respawns.waits(7));
  respawns.forget(7);
  EXPECT_FALSE(respawns.waits(7));
  EXPECT_TRUE(respawns.take_due(at(0s)).empty());
}

/// Whenever engines die: within any minute there are no more starts than the limit.
TEST(Respawns, TheLimitHoldsForEachMinute) {
  Respawns respawns{5};
  std::vector<Instant> starts;
  for (int turn = 0; turn < 3000; ++turn) {
    const Instant now = at(turn * 100ms);
    respawns.died(turn % 7);
    for (std::size_t i = respawns.take_due(now).size(); i > 0; --i) starts.push_back(now);
  }
  EXPECT_EQ(starts.size(), 25u);
  for (std::size_t i = 5; i < starts.size(); ++i) EXPECT_GE(starts[i] - starts[i - 5], 1min);
}

}  // namespace
}  // namespace px::cluster
