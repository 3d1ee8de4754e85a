#include "engine/mpi/segment_passing.hpp"

#include <gtest/gtest.h>

namespace px::engine {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t part = os::passed_piece;
constexpr Instant begin{};
using Lines = std::vector<std::string>;

std::string line(const SegmentPassing::SegmentPart& what) {
  return std::to_string(what.rank) + " " + what.segment + " " +
         std::to_string(what.offset / part) + " #" + std::to_string(what.tag);
}
std::string line(const SegmentPassing::Ask& effect) {
  return "ask " + line(effect.part);
}
std::string line(const SegmentPassing::SendPart& effect) {
  return "answer " + line(effect.part);
}
std::string line(const SegmentPassing::Refuse& effect) {
  return "refuse " + line(effect.part);
}
std::string line(const SegmentPassing::Deliver& effect) {
  return "deliver " + effect.segment + " " + std::to_string(effect.number) + " #" +
         std::to_string(effect.tag);
}
std::string line(const SegmentPassing::Lose& effect) {
  return "lose " + effect.segment;
}
Lines lines(const SegmentPassing::Effects& effects) {
  Lines all;
  for (const auto& effect : effects)
    all.push_back(std::visit([](const auto& what) { return line(what); }, effect));
  return all;
}

/// Rank 2 asks for the n-th part of "a".
SegmentPassing::SegmentPart question(std::uint64_t n, int tag, const std::string& segment = "a") {
  return {2, tag, segment, n * part, part};
}

TEST(SegmentPassing, APartIsSentWhenItIsThere) {
  SegmentPassing giver;
  giver.give("a", 2 * part, 1);
  EXPECT_EQ(lines(giver.asked(question(0, 7), begin)), Lines{});
  EXPECT_EQ(lines(giver.asked(question(1, 8), begin)), Lines{});
  EXPECT_EQ(lines(giver.filled("a", part + 1)), Lines{"answer 2 a 0 #7"});
  EXPECT_EQ(lines(giver.filled("a", 2 * part)), Lines{"answer 2 a 1 #8"});
}

TEST(SegmentPassing, TheGiverListensUntilAllTakersHaveTheLastPart) {
  SegmentPassing giver;
  giver.give("a", part, 2);
  giver.filled("a", part);
  giver.asked(question(0, 7), begin);
  EXPECT_TRUE(giver.is_active());
  giver.asked(question(0, 3), begin);
  EXPECT_FALSE(giver.is_active());
}

TEST(SegmentPassing, AQuestionThatComesBeforeTheSegmentIsAnsweredLater) {
  SegmentPassing giver;
  EXPECT_EQ(lines(giver.asked(question(0, 7), begin)), Lines{});
  EXPECT_EQ(lines(giver.on_time(begin + 4s)), Lines{});
  giver.give("a", part, 1);
  EXPECT_EQ(lines(giver.on_time(begin + 9s)), Lines{});  // the client takes its time
  EXPECT_EQ(lines(giver.filled("a", part)), Lines{"answer 2 a 0 #7"});
}

TEST(SegmentPassing, EachQuestionForASegmentThatDoesNotComeIsRefused) {
  SegmentPassing giver;
  giver.asked(question(0, 7, "unknown"), begin);
  EXPECT_EQ(lines(giver.on_time(begin + SegmentPassing::longest_wait)),
            Lines{"refuse 2 unknown 0 #7"});
  giver.give("a", 2 * part, 1);
  giver.asked(question(0, 8), begin);
  EXPECT_EQ(lines(giver.withdraw("a")), Lines{"refuse 2 a 0 #8"});
  EXPECT_FALSE(giver.is_active());
}

TEST(SegmentPassing, NothingOutsideTheSegmentIsSent) {
  SegmentPassing giver;
  giver.give("a", 2 * part, 1);
  giver.filled("a", 2 * part);
  for (const auto& [offset, length] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {2 * part, 1}, {2 * part - 1, 2}, {~std::uint64_t{0}, part}, {0, part + 1}, {0, 0}})
    EXPECT_EQ(giver.asked({2, 7, "a", offset, length}, begin).size(), 1u)
        << offset << " " << length;
  for (const auto& [offset, length] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{~std::uint64_t{0}, part}, {0, 0}})
    EXPECT_TRUE(std::holds_alternative<SegmentPassing::Refuse>(
        giver.asked({2, 7, "unknown", offset, length}, begin).at(0)));
}

TEST(SegmentPassing, AWindowOfPartsIsAskedForAndOneMoreForEachThatWasUsed) {
  SegmentPassing taker;
  EXPECT_EQ(lines(taker.take("b", 1, "a", 6 * part)),
            (Lines{"ask 1 a 0 #1", "ask 1 a 1 #2", "ask 1 a 2 #3", "ask 1 a 3 #4"}));
  EXPECT_EQ(lines(taker.take("b", 1, "a", 6 * part)), Lines{});  // it was told twice
  EXPECT_EQ(taker.awaited(), std::vector<int>{1});               // in their order
  EXPECT_EQ(lines(taker.received(1, part)), Lines{"deliver b 0 #1"});
  EXPECT_EQ(taker.awaited(), std::vector<int>{2});
  EXPECT_EQ(lines(taker.used("b")), Lines{"ask 1 a 4 #5"});
}

TEST(SegmentPassing, ItIsOverWithTheLastPart) {
  SegmentPassing taker;
  taker.take("b", 1, "a", part + 5);
  taker.received(1, part);
  EXPECT_EQ(lines(taker.received(2, 5)), Lines{"deliver b 1 #2"});
  EXPECT_FALSE(taker.is_active());
}

TEST(SegmentPassing, ARefusalLosesTheSegmentAndTheOtherAnswersAreStillAwaited) {
  SegmentPassing taker;
  taker.take("b", 1, "a", 2 * part);
  EXPECT_EQ(lines(taker.received(1, 0)), Lines{"lose b"});
  EXPECT_EQ(taker.awaited(), std::vector<int>{2});
  EXPECT_EQ(lines(taker.received(2, part)), Lines{});
  EXPECT_FALSE(taker.is_active());
}

TEST(SegmentPassing, APartOfTheWrongLengthIsNone) {
  SegmentPassing taker;
  taker.take("b", 1, "a", part);
  EXPECT_EQ(lines(taker.received(1, part - 1)), Lines{"lose b"});
}

TEST(SegmentPassing, WhatWasDroppedIsReceivedAndForgottenAlsoWhereItIsTakenAgain) {
  SegmentPassing taker;
  taker.take("b", 1, "a", part);
  taker.drop("b");
  EXPECT_EQ(lines(taker.take("b", 3, "c", part)), Lines{"ask 3 c 0 #2"});
  EXPECT_EQ(lines(taker.received(1, part)), Lines{});
  EXPECT_EQ(lines(taker.received(2, part)), Lines{"deliver b 0 #2"});
  EXPECT_FALSE(taker.is_active());
}

TEST(SegmentPassing, ABrokenWorldLosesAll) {
  SegmentPassing both;
  both.give("a", part, 1);
  both.asked(question(0, 7), begin);
  both.take("b", 1, "c", part);
  EXPECT_EQ(lines(both.lose_all("broken")), Lines{"lose b"});
  EXPECT_FALSE(both.is_active());
}

}  // namespace
}  // namespace px::engine
