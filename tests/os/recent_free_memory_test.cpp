#include "os/segments/recent_free_memory.hpp"

#include <gtest/gtest.h>

namespace px::os {
namespace {

using namespace std::chrono_literals;

const Instant now = Instant{} + 1h;

TEST(RecentFreeMemory, IsNoneBeforeTheFirstLook) {
  RecentFreeMemory memory;
  EXPECT_FALSE(memory.take(0, now));
}

TEST(RecentFreeMemory, SpeaksForASmallShareOfWhatThereWas) {
  RecentFreeMemory memory;
  memory.note(6400, now);
  EXPECT_FALSE(memory.take(101, now));
  EXPECT_TRUE(memory.take(100, now));
  EXPECT_FALSE(memory.take(100, now)) << "it was taken";
  EXPECT_TRUE(memory.take(98, now));
}

TEST(RecentFreeMemory, IsForgottenSoon) {
  RecentFreeMemory memory;
  memory.note(6400, now);
  EXPECT_TRUE(memory.take(1, now + 100ms));
  EXPECT_FALSE(memory.take(1, now + 101ms));
  memory.note(6400, now + 101ms);
  EXPECT_TRUE(memory.take(1, now + 101ms));
}

}  // namespace
}  // namespace px::os
