#include "os/segments/recent_room.hpp"

#include <gtest/gtest.h>

namespace px::os {
namespace {

using namespace std::chrono_literals;

const Instant now = Instant{} + 1h;

TEST(RecentRoom, IsNoneBeforeTheFirstLook) {
  RecentRoom room;
  EXPECT_FALSE(room.take(0, now));
}

TEST(RecentRoom, SpeaksForASmallShareOfWhatThereWas) {
  RecentRoom room;
  room.note(6400, now);
  EXPECT_FALSE(room.take(101, now));
  EXPECT_TRUE(room.take(100, now));
  EXPECT_FALSE(room.take(100, now)) << "it was taken";
  EXPECT_TRUE(room.take(98, now));
}

TEST(RecentRoom, IsForgottenSoon) {
  RecentRoom room;
  room.note(6400, now);
  EXPECT_TRUE(room.take(1, now + 100ms));
  EXPECT_FALSE(room.take(1, now + 101ms));
  room.note(6400, now + 101ms);
  EXPECT_TRUE(room.take(1, now + 101ms));
}

}  // namespace
}  // namespace px::os
