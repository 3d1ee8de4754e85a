#include "controller/relay/output_allowance.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr Instant begin{1h};

TEST(OutputAllowance, WhoReadsNothingHoldsTheFixedNumberOfBytes) {
  OutputAllowance allowance;
  std::size_t unsent = 0;
  while (allowance.has_room(unsent, begin) && unsent < 1000 * mib) {
    allowance.sent(mib);
    unsent += mib;
  }
  EXPECT_EQ(unsent, OutputAllowance::fixed_bytes);
  EXPECT_FALSE(allowance.has_room(unsent, begin + 10s));
}

TEST(OutputAllowance, WhoReadsSlowlyGetsAllOfABurst) {
  OutputAllowance allowance;
  std::size_t unsent = 0;
  for (int i = 0; i < 100; ++i) {  // it takes half of what comes
    EXPECT_TRUE(allowance.has_room(unsent, begin + i * 10ms)) << i;
    allowance.sent(mib);
    unsent += mib / 2;
  }
  EXPECT_EQ(unsent, 50 * mib);
}

TEST(OutputAllowance, WhatWasTakenLongAgoDoesNotCount) {
  OutputAllowance allowance;
  allowance.sent(100 * mib);
  EXPECT_TRUE(allowance.has_room(0, begin));
  EXPECT_TRUE(allowance.has_room(0, begin + 500ms));
  allowance.sent(20 * mib);
  EXPECT_FALSE(allowance.has_room(20 * mib, begin + 3s));
  EXPECT_FALSE(allowance.has_room(20 * mib, begin + 10s));
}

TEST(OutputAllowance, NobodyHoldsMoreThanTheMost) {
  OutputAllowance allowance;
  allowance.has_room(0, begin);
  allowance.sent(2000 * mib);
  EXPECT_TRUE(allowance.has_room(OutputAllowance::most_bytes - 1, begin + 1ms));
  EXPECT_FALSE(allowance.has_room(OutputAllowance::most_bytes, begin + 2ms));
}

}  // namespace
}  // namespace px::controller
