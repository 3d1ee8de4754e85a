#include <gtest/gtest.h>

#include "engine/mpi/rank_names.hpp"
#include "engine/mpi/roll_call.hpp"

namespace px::engine {
namespace {

using Part = Standing::Part;

constexpr CollectiveCall first{77, 1}, second{77, 2}, elsewhere{99, 1};

std::vector<Rank> ranks(std::initializer_list<int> values) {
  std::vector<Rank> all;
  for (const int value : values) all.push_back(Rank{value});
  return all;
}

Standing says(int rank, Part part, std::vector<CollectiveCall> calls = {}) {
  return {5, Rank{rank}, part, std::move(calls), {}};
}

std::vector<int> numbers(const std::vector<Rank>& all) {
  std::vector<int> values;
  for (const Rank rank : all) values.push_back(rank.value);
  return values;
}

/// Of three ranks, 0 and 2 wait in `first`.
RollCall two_wait() {
  RollCall roll{5, Rank{0}, ranks({0, 1, 2})};
  roll.hear(says(0, Part::waits, {first}));
  roll.hear(says(1, Part::waits));
  roll.hear(says(2, Part::waits, {first}));
  return roll;
}

TEST(RollCall, WaitsForAllRanks) {
  RollCall roll{5, Rank{0}, ranks({0, 1, 2})};
  roll.hear(says(0, Part::waits));
  roll.hear(says(2, Part::waits));
  EXPECT_FALSE(roll.all_wait());
  EXPECT_EQ(numbers(roll.silent()), (std::vector{1}));
  roll.hear(says(1, Part::waits));
  EXPECT_TRUE(roll.all_wait());
  EXPECT_FALSE(roll.all_told());
}

TEST(RollCall, KnowsEachCallOnceThatSomebodyWaitsIn) {
  const RollCall roll = two_wait();
  EXPECT_EQ(roll.calls(), (std::set<CollectiveCall>{first}));
}

TEST(RollCall, NamesTheRanksThatHaveNotCome) {
  RollCall roll = two_wait();
  roll.hear(says(0, Part::misses));
  roll.hear(says(2, Part::misses));
  EXPECT_FALSE(roll.all_told());
  roll.hear(says(1, Part::misses, {first}));
  EXPECT_TRUE(roll.all_told());
  EXPECT_EQ(numbers(roll.missing(first)), (std::vector{1}));
}

TEST(RollCall, ACallThatAllHaveComeToIsMissedByNobody) {
  RollCall roll = two_wait();
  for (const int rank : {0, 1, 2}) roll.hear(says(rank, Part::misses));
  EXPECT_TRUE(roll.missing(first).empty());
}

TEST(RollCall, SeveralRanksMissACallInTheirOrder) {
  RollCall roll{5, Rank{1}, ranks({0, 1, 2})};
  roll.hear(says(1, Part::waits, {elsewhere}));
  roll.hear(says(2, Part::waits));
  roll.hear(says(0, Part::waits));
  roll.hear(says(2, Part::misses, {elsewhere}));
  roll.hear(says(0, Part::misses, {elsewhere}));
  EXPECT_EQ(numbers(roll.missing(elsewhere)), (std::vector{0, 2}));
}

TEST(RollCall, RanksMayWaitInDifferentCalls) {
  RollCall roll{5, Rank{0}, ranks({0, 1})};
  roll.hear(says(0, Part::waits, {second}));
  roll.hear(says(1, Part::waits, {elsewhere}));
  EXPECT_EQ(roll.calls(), (std::set<CollectiveCall>{second, elsewhere}));
}

TEST(RollCall, WhatIsSaidTwiceCountsOnce) {
  RollCall roll{5, Rank{0}, ranks({0, 1})};
  roll.hear(says(0, Part::waits));
  roll.hear(says(0, Part::waits));
  EXPECT_FALSE(roll.all_wait());
  roll.hear(says(1, Part::waits, {first}));
  roll.hear(says(0, Part::misses, {first}));
  roll.hear(says(0, Part::misses, {first}));
  EXPECT_EQ(numbers(roll.missing(first)), (std::vector{0}));
}

TEST(RollCall, WhatBelongsToAnotherRoundIsLeftAside) {
  RollCall roll{5, Rank{0}, ranks({0, 1})};
  Standing old = says(1, Part::waits, {first});
  old.round = 4;
  roll.hear(old);
  roll.hear(says(0, Part::waits));
  EXPECT_FALSE(roll.all_wait());
  EXPECT_TRUE(roll.calls().empty());
}

TEST(RollCall, WhoMayHaveSpokenTooEarlyIsStillHeard) {
  RollCall roll{5, Rank{0}, ranks({0, 1})};
  roll.hear(says(1, Part::waits));
  roll.hear(says(0, Part::waits, {first}));
  roll.hear(says(1, Part::misses, {first}));
  EXPECT_EQ(numbers(roll.silent()), (std::vector{0}));
  roll.hear(says(0, Part::misses));
  EXPECT_TRUE(roll.silent().empty());
}

TEST(RollCall, MessagesThatAreHalfSentAreKnownToAll) {
  RollCall roll{5, Rank{0}, ranks({0, 1})};
  Standing sender = says(1, Part::waits);
  sender.sends.push_back({77, 1, 0, 3, 4096});
  roll.hear(sender);
  ASSERT_EQ(roll.sends().size(), 1u);
  EXPECT_EQ(roll.sends()[0].bytes, 4096);
}

TEST(RankNames, OneSeveralAndMany) {
  EXPECT_EQ(name_ranks(ranks({2})), "rank 2");
  EXPECT_EQ(name_ranks(ranks({0, 1, 3})), "ranks 0, 1, 3");
  EXPECT_EQ(name_ranks(ranks({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})),
            "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
}

}  // namespace
}  // namespace px::engine
