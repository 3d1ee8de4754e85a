#include "controller/relay/output_room.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr Instant begin{1h};

TEST(OutputRoom, WhoReadsNothingHoldsTheFixedNumberOfBytes) {
  OutputRoom room;
  std::size_t unsent = 0;
  while (room.has_room(unsent, begin) && unsent < 1000 * mib) {
    room.sent(mib);
    unsent += mib;
  }
  EXPECT_EQ(unsent, OutputRoom::fixed_bytes);
  EXPECT_FALSE(room.has_room(unsent, begin + 10s));
}

TEST(OutputRoom, WhoReadsSlowlyGetsAllOfABurst) {
  OutputRoom room;
  std::size_t unsent = 0;
  for (int i = 0; i < 100; ++i) {  // it takes half of what comes
    EXPECT_TRUE(room.has_room(unsent, begin + i * 10ms)) << i;
    room.sent(mib);
    unsent += mib / 2;
  }
  EXPECT_EQ(unsent, 50 * mib);
}

TEST(OutputRoom, WhatWasTakenLongAgoDoesNotCount) {
  OutputRoom room;
  room.sent(100 * mib);
  EXPECT_TRUE(room.has_room(0, begin));
  EXPECT_TRUE(room.has_room(0, begin + 500ms));
  room.sent(20 * mib);
  EXPECT_FALSE(room.has_room(20 * mib, begin + 3s));
  EXPECT_FALSE(room.has_room(20 * mib, begin + 10s));
}

TEST(OutputRoom, NobodyHoldsMoreThanTheMost) {
  OutputRoom room;
  room.has_room(0, begin);
  room.sent(2000 * mib);
  EXPECT_TRUE(room.has_room(OutputRoom::most_bytes - 1, begin + 1ms));
  EXPECT_FALSE(room.has_room(OutputRoom::most_bytes, begin + 2ms));
}

}  // namespace
}  // namespace px::controller
