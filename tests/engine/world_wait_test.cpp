#include "engine/mpi/world_wait.hpp"

#include <gtest/gtest.h>

#include "engine/mpi/broken_world.hpp"

namespace px::engine {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant{} + 100s + time;
}

TEST(WorldWait, AsksAtOnceAndThenLessAndLessOften) {
  WorldWait wait{at(0s)};
  EXPECT_TRUE(wait.asks(at(0s)));
  EXPECT_FALSE(wait.asks(at(49ms)));
  EXPECT_TRUE(wait.asks(at(50ms)));
  EXPECT_FALSE(wait.asks(at(149ms)));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(wait.asks(wait.next_deadline()));
  const Instant last = wait.next_deadline();
  EXPECT_TRUE(wait.asks(last));
  EXPECT_EQ(wait.next_deadline(), last + 1s);
}

TEST(WorldWait, EndsWhenNoRankIsLeft) {
  WorldWait wait{at(0s)};
  wait.heard(3, at(1s));
  EXPECT_FALSE(wait.is_over(at(2s)));
  wait.heard(0, at(3s));
  EXPECT_TRUE(wait.is_over(at(3s)));
}

TEST(WorldWait, EndsWhenTheControllerIsNotHeardForLong) {
  WorldWait wait{at(0s)};
  wait.heard(3, at(1min));
  EXPECT_FALSE(wait.is_over(at(3min)));
  EXPECT_TRUE(wait.is_over(at(4min)));
}

TEST(BrokenWorld, SaysWhatTheLastNoticeSaid) {
  BrokenWorld world;
  EXPECT_FALSE(world.is_broken());
  EXPECT_EQ(world.sentence(), "");
  world.set("rank 2 died");
  world.set("ranks 1 and 2 died");
  EXPECT_TRUE(world.is_broken());
  EXPECT_EQ(world.sentence(), "ranks 1 and 2 died");
}

}  // namespace
}  // namespace px::engine
