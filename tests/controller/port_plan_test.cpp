#include "controller/setup/port_plan.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using Side = PortPlan::Side;

TEST(Ports, RangesAndSinglePortsAreReadInOrder) {
  EXPECT_EQ(*read_ports("10101-10103,9000"), (std::vector<int>{10101, 10102, 10103, 9000}));
  EXPECT_EQ(*read_ports(""), std::vector<int>{});
}

TEST(Ports, WhatIsNoPortIsRefused) {
  for (const char* text : {"x", "0", "65536", "5-", "-5", "7-6", "1,,2", "80 81", "1-2-3"})
    EXPECT_FALSE(read_ports(text)) << text;
}

TEST(PortPlan, EachSideTakesItsOwnPortsFirstThenTheCommonOnesThenAnyFreeOne) {
  PortPlan plan{{1, 2}, {10}, {20, 21}};
  EXPECT_EQ(plan.take(Side::engine), 10);
  EXPECT_EQ(plan.take(Side::engine), 1);
  EXPECT_EQ(plan.take(Side::client), 20);
  EXPECT_EQ(plan.take(Side::client), 21);
  EXPECT_EQ(plan.take(Side::client), 2);
  EXPECT_EQ(plan.take(Side::client), 0);
  EXPECT_EQ(plan.take(Side::engine), 0);
}

}  // namespace
}  // namespace px::controller
