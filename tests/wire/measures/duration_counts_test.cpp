#include "wire/measures/duration_counts.hpp"

#include <gtest/gtest.h>

#include <random>

namespace px {
namespace {

using namespace std::chrono_literals;

TEST(DurationCounts, HasNothingInTheBeginning) {
  const DurationCounts counts;
  EXPECT_TRUE(counts.is_empty());
  EXPECT_EQ(counts.quantile(0.5), 0);
  EXPECT_EQ(counts.count_below(1h), 0u);
  EXPECT_EQ(counts.in_bin(17), 0u);
}

TEST(DurationCounts, EachDurationIsInTheBinWhoseBoundsSurroundIt) {
  std::mt19937_64 random{4711};
  std::uniform_real_distribution<double> exponent{-7, 5};
  for (int i = 0; i < 100'000; ++i) {
    const std::chrono::nanoseconds duration{
        static_cast<std::int64_t>(1e9 * std::pow(10, exponent(random)))};
    const double seconds = std::chrono::duration<double>(duration).count();
    const std::size_t bin = DurationCounts::bin_of(duration);
    ASSERT_LE(DurationCounts::lower_bound(bin), seconds * (1 + 1e-12)) << seconds;
    ASSERT_GT(DurationCounts::lower_bound(bin + 1), seconds * (1 - 1e-12)) << seconds;
  }
}

TEST(DurationCounts, NoBinOfTheDecadesIsWiderThanAQuarterOfItsLowerBound) {
  for (std::size_t bin = 1; bin + 1 < DurationCounts::bins; ++bin) {
    const double lower = DurationCounts::lower_bound(bin);
    EXPECT_LE(DurationCounts::lower_bound(bin + 1) - lower, lower * 0.2500001) << bin;
  }
}

TEST(DurationCounts, WhatIsTooShortOrTooLongIsCountedAtTheEnds) {
  EXPECT_EQ(DurationCounts::bin_of(0ns), 0u);
  EXPECT_EQ(DurationCounts::bin_of(999ns), 0u);
  EXPECT_EQ(DurationCounts::bin_of(1us), 1u);
  EXPECT_EQ(DurationCounts::bin_of(10'000s - 1ns), DurationCounts::bins - 2);
  EXPECT_EQ(DurationCounts::bin_of(10'000s), DurationCounts::bins - 1);
  EXPECT_EQ(DurationCounts::bin_of(Duration::max()), DurationCounts::bins - 1);
  DurationCounts counts;
  counts.add(-1s);
  EXPECT_EQ(counts.in_bin(0), 1u);
  EXPECT_EQ(counts.sum(), 0);
}

TEST(DurationCounts, RoundDurationsAreBoundsOfBins) {
  for (const Duration bound : {Duration(10us), Duration(20us), Duration(50us), Duration(1ms),
                               Duration(5s), Duration(200s)}) {
    DurationCounts counts;
    counts.add(bound - 1ns);
    counts.add(bound);
    EXPECT_EQ(counts.count_below(bound), 1u);
  }
}

TEST(DurationCounts, AQuantileIsRightToAnEighth) {
  DurationCounts counts;
  for (int i = 1; i <= 1000; ++i) counts.add(std::chrono::milliseconds(i));
  for (const double share : {0.1, 0.5, 0.9, 0.99})
    EXPECT_NEAR(counts.quantile(share), share, share / 8) << share;
  EXPECT_NEAR(counts.sum(), 500.5, 1e-6);
  EXPECT_EQ(counts.count(), 1000u);
}

TEST(DurationCounts, TheQuantileOfEndlessDurationsIsTheLastBound) {
  DurationCounts counts;
  counts.add(24h);
  EXPECT_NEAR(counts.quantile(0.5), 10'000, 1e-6);
}

TEST(DurationCounts, AreAddedBinByBin) {
  DurationCounts one, two;
  one.add(1s);
  two.add(1s);
  two.add(2s);
  one.add(two);
  EXPECT_EQ(one.count(), 3u);
  EXPECT_EQ(one.in_bin(DurationCounts::bin_of(1s)), 2u);
  EXPECT_DOUBLE_EQ(one.sum(), 4);
}

TEST(DurationCounts, AreReadAsTheyWereWritten) {
  DurationCounts counts;
  for (const Duration each : {Duration(0ns), Duration(3ms), Duration(3ms), Duration(24h)})
    counts.add(each);
  EXPECT_EQ(DurationCounts::read(counts.write()), counts);
  EXPECT_EQ(DurationCounts::read(DurationCounts{}.write()), DurationCounts{});
}

TEST(DurationCounts, WhatIsMalformedCountsAsAbsent) {
  for (const Json& wrong :
       {Json(), Json(1), Json{{"counts", 7}}, Json{{"counts", {1, 2}}}, Json{{"counts", {{-1, 1}}}},
        Json{{"counts", {{DurationCounts::bins, 1}}}}, Json{{"counts", {{1, -1}}}},
        Json{{"counts", {{1, 1.5}}}}, Json{{"counts", {{1, 2, 3}}}},
        Json{{"counts", Json::array_t(1000, Json::array({1, 1}))}}})
    EXPECT_TRUE(DurationCounts::read(wrong).is_empty()) << wrong;
  const Json wrong_sum{{"sum", -3.0}, {"counts", Json::array({Json::array({1, 2})})}};
  EXPECT_EQ(DurationCounts::read(wrong_sum).count(), 2u);
  EXPECT_EQ(DurationCounts::read(wrong_sum).sum(), 0);
}

}  // namespace
}  // namespace px
