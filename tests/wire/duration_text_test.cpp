#include <gtest/gtest.h>

#include "wire/counted.hpp"
#include "wire/time.hpp"

namespace px {
namespace {

using namespace std::chrono_literals;

TEST(Counted, TheWordFollowsTheNumber) {
  EXPECT_EQ(counted(0, "engine"), "0 engines");
  EXPECT_EQ(counted(1, "engine"), "1 engine");
  EXPECT_EQ(counted(4, "more engine"), "4 more engines");
}

TEST(DurationText, IsInSecondsWithAtMostThreeDecimals) {
  EXPECT_EQ(format_duration(15s), "15 s");
  EXPECT_EQ(format_duration(0s), "0 s");
  EXPECT_EQ(format_duration(250ms), "0.25 s");
  EXPECT_EQ(format_duration(1500ms), "1.5 s");
  EXPECT_EQ(format_duration(2min), "120 s");
  EXPECT_EQ(format_duration(1ms + 400us), "0.001 s");
}

TEST(DurationText, AnAgeIsRoundedToWhatMatters) {
  EXPECT_EQ(format_age(12400ms), "12 s");
  EXPECT_EQ(format_age(200s), "3 min 20 s");
  EXPECT_EQ(format_age(2h + 5min + 59s), "2 h 5 min");
  EXPECT_EQ(format_age(-3s), "0 s");
}

}  // namespace
}  // namespace px
