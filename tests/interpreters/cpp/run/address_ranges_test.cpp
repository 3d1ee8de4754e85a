#include "interpreters/cpp/run/address_ranges.hpp"

#include <gtest/gtest.h>

namespace px::cpp {
namespace {

using Side = AddressRanges::Side;

TEST(AddressRanges, CodeGrowsFromTheBottomAndDataFromTheTop) {
  AddressRanges ranges;
  EXPECT_EQ(ranges.take(1, Side::bottom), std::nullopt);
  ranges.add(1000, 100);
  EXPECT_EQ(ranges.take(10, Side::bottom), 1000u);
  EXPECT_EQ(ranges.take(20, Side::bottom), 1010u);
  EXPECT_EQ(ranges.take(30, Side::top), 1070u);
  EXPECT_EQ(ranges.take(40, Side::top), 1030u);
  EXPECT_EQ(ranges.take(1, Side::top), std::nullopt);
  ranges.add(5000, 100);
  EXPECT_EQ(ranges.take(10, Side::bottom), 5000u);
}

TEST(AddressRanges, WhatIsGivenBackIsTakenAgain) {
  AddressRanges ranges;
  ranges.add(1000, 100);
  for (int i = 0; i < 5; ++i) ranges.take(20, Side::bottom);
  EXPECT_EQ(ranges.take(20, Side::bottom), std::nullopt);
  ranges.give_back(1060, 20, Side::bottom);
  ranges.give_back(1020, 20, Side::bottom);
  EXPECT_EQ(ranges.take(40, Side::bottom), std::nullopt);
  ranges.give_back(1040, 20, Side::bottom);  // joins its neighbours
  EXPECT_EQ(ranges.take(20, Side::top), std::nullopt);
  EXPECT_EQ(ranges.take(50, Side::bottom), 1020u);
  EXPECT_EQ(ranges.take(10, Side::bottom), 1070u);
}

}  // namespace
}  // namespace px::cpp
