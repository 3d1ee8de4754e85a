#include <gtest/gtest.h>

#include "engine/mpi/stop_point.hpp"

namespace px::engine {
namespace {

TEST(StopPoint, HoldsNothingBackInACellWithoutALibrary) {
  StopPoint point;
  EXPECT_FALSE(point.ask(true));
  EXPECT_FALSE(point.is_asked());
}

TEST(StopPoint, HoldsAnInterruptBackUntilAllRanksKnowOfIt) {
  StopPoint point;
  point.use();
  EXPECT_TRUE(point.ask(false));
  EXPECT_TRUE(point.is_asked());
  EXPECT_TRUE(point.agree());
  EXPECT_FALSE(point.is_asked());
  EXPECT_FALSE(point.agree()) << "it has been interrupted";
  EXPECT_FALSE(point.is_forced());
}

TEST(StopPoint, ARankThatWasNotAskedIsInterruptedWithTheOthers) {
  StopPoint point;
  EXPECT_TRUE(point.agree());
}

TEST(StopPoint, WhatItIsAskedForAfterTheOthersIsTheSameInterrupt) {
  StopPoint point;
  point.use();
  EXPECT_TRUE(point.agree());
  EXPECT_TRUE(point.ask(true)) << "it has been interrupted";
  EXPECT_FALSE(point.is_forced());
  EXPECT_FALSE(point.agree());
  EXPECT_FALSE(point.ask(true)) << "a second one";
  EXPECT_TRUE(point.is_forced());
}

TEST(StopPoint, ASecondInterruptComesByForce) {
  StopPoint point;
  point.use();
  EXPECT_TRUE(point.ask(false));
  EXPECT_FALSE(point.ask(false));
  EXPECT_TRUE(point.is_forced());
  EXPECT_FALSE(point.agree());
  EXPECT_TRUE(point.is_forced());
}

TEST(StopPoint, OneThatWasHeldBackForThePatienceComesByForce) {
  StopPoint point;
  point.use();
  point.ask(false);
  EXPECT_TRUE(point.force());
  EXPECT_TRUE(point.is_forced());
  EXPECT_FALSE(point.force()) << "once is enough";
}

TEST(StopPoint, AnInterruptOfACellThatHasEndedIsForgotten) {
  StopPoint point;
  point.declare();
  point.ask(false);
  point.reset();
  EXPECT_FALSE(point.force());
  EXPECT_FALSE(point.ask(true)) << "what the next cell does is another matter";
}

}  // namespace
}  // namespace px::engine
