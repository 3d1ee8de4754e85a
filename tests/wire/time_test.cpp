#include "wire/time.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

using namespace std::chrono;

WallTime wall(year_month_day day, Duration clock) {
  return WallTime{sys_days{day}.time_since_epoch()} + floor<microseconds>(clock);
}

constexpr year_month_day a_day{year{2026}, November, day{21}};

TEST(Date, IsWrittenWithMicrosecondsAndZ) {
  EXPECT_EQ(format_date(wall(a_day, 8h + 5min + 9s + 467893us)), "2026-11-21T08:05:09.467893Z");
  EXPECT_EQ(format_date(wall(a_day, 8h + 5min + 9s + 7us)), "2026-11-21T08:05:09.000007Z");
}

TEST(Date, IsWrittenWithoutAFractionThatIsZero) {
  EXPECT_EQ(format_date(wall(a_day, 8h + 5min + 9s)), "2026-11-21T08:05:09Z");
}

TEST(Date, BeforeTheEpochIsWrittenToo) {
  EXPECT_EQ(format_date(WallTime{-1us}), "1969-12-31T23:59:59.999999Z");
}

TEST(Date, IsReadWithOneToSixDigitsOfFraction) {
  const auto second = wall(a_day, 8h + 5min + 9s);
  EXPECT_EQ(parse_date("2026-11-21T08:05:09Z"), second);
  EXPECT_EQ(parse_date("2026-11-21T08:05:09.4Z"), second + 400000us);
  EXPECT_EQ(parse_date("2026-11-21T08:05:09.467893Z"), second + 467893us);
}

TEST(Date, IsReadInEveryZone) {
  const auto time = wall(a_day, 8h + 5min + 9s);
  for (const std::string_view text :
       {"2026-11-21T08:05:09", "2026-11-21T08:05:09Z", "2026-11-21T10:05:09+02:00",
        "2026-11-21T10:05:09+0200", "2026-11-21T02:35:09-05:30", "2026-11-22T07:05:09+23:00"})
    EXPECT_EQ(parse_date(text), time) << text;
}

TEST(Date, KnowsLeapDays) {
  EXPECT_TRUE(parse_date("2028-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_date("2026-02-29T00:00:00Z"));
}

TEST(Date, IsNotReadFromAnythingElse) {
  for (const std::string_view text : {"",
                                      "now",
                                      "2026-11-21",
                                      "2026-11-21T08:05",
                                      "2026-11-21 08:05:09Z",
                                      "2026-11-21T08:05:09.Z",
                                      "2026-11-21T08:05:09.1234567Z",
                                      "2026-11-21T08:05:09z",
                                      "2026-13-21T08:05:09Z",
                                      "2026-11-31T08:05:09Z",
                                      "2026-11-21T24:05:09Z",
                                      "2026-11-21T08:60:09Z",
                                      "2026-11-21T08:05:60Z",
                                      "2026-11-21T08:05:09+24:00",
                                      "0000-12-31T23:59:59Z",
                                      "0001-01-01T00:00:00+01:00",
                                      "9999-12-31T23:59:59-00:01",
                                      "2026-11-21T08:05:09+02:60",
                                      "2026-11-21T08:05:09+2",
                                      "2026-11-21T08:05:09ZZ",
                                      " 2026-11-21T08:05:09Z",
                                      "2026-11-21T08:05:09Z ",
                                      "+026-11-21T08:05:09Z"})
    EXPECT_FALSE(parse_date(text)) << text;
}

TEST(Date, OfTheWallClockSurvivesItsText) {
  const WallTime now = wall_now();
  EXPECT_EQ(parse_date(format_date(now)), now);
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
