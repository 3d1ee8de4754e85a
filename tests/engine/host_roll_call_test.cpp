#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "engine/mpi/host_roll_call.hpp"

namespace px::engine {
namespace {

/// Three ranks, each with the roll call as it sees it, over counts of which each rank has two.
class HostRollCallTest : public testing::Test {
 protected:
  /// use    which of its counts each rank has for it.
  /// epoch  in which it is made.
  std::vector<HostRollCall> make(std::array<std::size_t, 3> use, std::uint64_t epoch = 0) {
    std::array<HostRollCall::RankCount, 3> places;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      HostCount& count = counts[rank][use[rank]];
      places[rank] = {&count, count.value.load(), parts[rank][use[rank]].data()};
    }
    std::vector<HostRollCall> made;
    for (std::size_t rank = 0; rank < 3; ++rank)
      made.emplace_back(std::vector(places.begin(), places.end()), rank, epoch);
    return made;
  }

  void all_come_to(std::vector<HostRollCall>& ranks, std::uint64_t epoch, std::uint64_t n) {
    for (HostRollCall& rank : ranks) rank.come_to(epoch, n);
    for (HostRollCall& rank : ranks) ASSERT_TRUE(rank.have_all_come());
  }

  /// The rank gives one byte.
  static void give(HostRollCall& rank, std::uint64_t epoch, std::uint64_t n, std::uint64_t form,
                   int value) {
    const std::array bytes{static_cast<std::byte>(value)};
    rank.come_to(epoch, n, {}, form, bytes);
  }
  static int given_by(const HostRollCall& reader, std::size_t rank) {
    return std::to_integer<int>(reader.given_by(rank)[0]);
  }

  static void expect_different_forms(std::vector<HostRollCall>& ranks) {
    for (HostRollCall& rank : ranks) {
      ASSERT_TRUE(rank.have_all_come());
      EXPECT_FALSE(rank.is_of_one_form());
    }
  }

  std::array<std::array<HostCount, 2>, 3> counts;
  std::array<std::array<std::array<HostPart, 2>, 2>, 3> parts;
};

TEST_F(HostRollCallTest, IsCompleteWhenAllRanksHaveCome) {
  auto ranks = make({0, 0, 0});
  ranks[0].come_to(0, 1);
  EXPECT_FALSE(ranks[0].have_all_come());
  ranks[2].come_to(0, 1);
  EXPECT_FALSE(ranks[0].have_all_come());
  EXPECT_FALSE(ranks[2].have_all_come());
  ranks[1].come_to(0, 1);
  for (HostRollCall& rank : ranks) EXPECT_TRUE(rank.have_all_come());
}

TEST_F(HostRollCallTest, TheNextCallWaitsForAllAgain) {
  auto ranks = make({0, 0, 0});
  all_come_to(ranks, 0, 1);
  ranks[0].come_to(0, 2);
  EXPECT_FALSE(ranks[0].have_all_come());
  ranks[1].come_to(0, 2);
  ranks[2].come_to(0, 2);
  EXPECT_TRUE(ranks[0].have_all_come());
}

TEST_F(HostRollCallTest, ARankThatLooksLateSeesThatOthersHaveGoneOn) {
  auto ranks = make({0, 0, 0});
  for (HostRollCall& rank : ranks) rank.come_to(0, 1);
  EXPECT_TRUE(ranks[0].have_all_come());
  ranks[0].come_to(0, 2);
  EXPECT_TRUE(ranks[1].have_all_come());
}

TEST_F(HostRollCallTest, CallsOfAnEarlierEpochDoNotCount) {
  auto ranks = make({0, 0, 0});
  for (std::uint64_t n = 1; n <= 3; ++n) all_come_to(ranks, 0, n);
  ranks[0].come_to(1, 1);
  EXPECT_FALSE(ranks[0].have_all_come());
  ranks[1].come_to(1, 1);
  ranks[2].come_to(1, 1);
  EXPECT_TRUE(ranks[0].have_all_come());
}

TEST_F(HostRollCallTest, ACountServesOneCommunicatorAfterAnother) {
  auto ranks = make({0, 0, 0});
  for (std::uint64_t n = 1; n <= 3; ++n) all_come_to(ranks, 0, n);
  ranks[0].come_to(0, 4);
  ranks[1].come_to(0, 4);
  ranks[2].come_to(0, 4);  // it has not looked yet

  auto later = make({0, 1, 0});
  later[0].come_to(0, 1);
  later[1].come_to(0, 1);
  EXPECT_FALSE(later[0].have_all_come());
  EXPECT_TRUE(ranks[2].have_all_come());
  later[2].come_to(0, 1);
  EXPECT_TRUE(later[0].have_all_come());
  EXPECT_TRUE(later[1].have_all_come());
}

TEST_F(HostRollCallTest, AllReadWhatEachHasGiven) {
  auto ranks = make({0, 1, 0});
  for (std::size_t rank = 0; rank < 3; ++rank)
    give(ranks[rank], 0, 1, 7, static_cast<int>(10 + rank));
  for (HostRollCall& reader : ranks) {
    ASSERT_TRUE(reader.have_all_come());
    EXPECT_TRUE(reader.is_of_one_form());
    for (std::size_t rank = 0; rank < 3; ++rank)
      EXPECT_EQ(given_by(reader, rank), static_cast<int>(10 + rank));
  }
}

TEST_F(HostRollCallTest, ARankMayGiveToTheNextCallBeforeOthersHaveRead) {
  auto ranks = make({0, 0, 0});
  for (HostRollCall& rank : ranks) give(rank, 0, 1, 7, 1);
  ASSERT_TRUE(ranks[0].have_all_come());
  give(ranks[0], 0, 2, 8, 2);
  ASSERT_TRUE(ranks[1].have_all_come());
  EXPECT_TRUE(ranks[1].is_of_one_form());
  EXPECT_EQ(given_by(ranks[1], 0), 1);
  give(ranks[1], 0, 2, 8, 3);
  give(ranks[2], 0, 2, 8, 4);
  ASSERT_TRUE(ranks[2].have_all_come());
  EXPECT_TRUE(ranks[2].is_of_one_form());
  EXPECT_EQ(given_by(ranks[2], 0), 2);
}

TEST_F(HostRollCallTest, RanksThatCallDifferentThingsAllSeeIt) {
  auto ranks = make({0, 0, 0});
  give(ranks[0], 0, 1, 7, 1);
  give(ranks[1], 0, 1, 8, 1);
  give(ranks[2], 0, 1, 7, 1);
  expect_different_forms(ranks);
}

TEST_F(HostRollCallTest, WhereOneGivesNothingAllSeeIt) {
  auto ranks = make({0, 0, 0});
  // What was given to the last call but one is gone.
  for (std::uint64_t n = 1; n <= 2; ++n)
    for (HostRollCall& rank : ranks) give(rank, 0, n, 7, 1);
  give(ranks[0], 0, 3, 7, 1);
  ranks[1].come_to(0, 3);
  give(ranks[2], 0, 3, 7, 1);
  expect_different_forms(ranks);
}

TEST_F(HostRollCallTest, ACallToWhichNobodyGivesIsNotOfOneForm) {
  auto ranks = make({0, 0, 0});
  all_come_to(ranks, 0, 1);
  for (const HostRollCall& rank : ranks) EXPECT_FALSE(rank.is_of_one_form());
}

TEST_F(HostRollCallTest, AllSeeWhatEachHasCalled) {
  auto ranks = make({0, 1, 0});
  CallForm from_0, from_1;
  from_0.root = 0;
  from_1.root = 1;
  for (HostRollCall& rank : ranks) rank.come_to(0, 1, from_0);
  for (HostRollCall& rank : ranks) {
    ASSERT_TRUE(rank.have_all_come());
    EXPECT_TRUE(rank.is_one_call());
  }
  ranks[0].come_to(0, 2, from_0);
  ranks[1].come_to(0, 2, from_1);
  ranks[2].come_to(0, 2, from_0);
  for (HostRollCall& rank : ranks) {
    ASSERT_TRUE(rank.have_all_come());
    EXPECT_FALSE(rank.is_one_call());
    EXPECT_EQ(rank.form_of(1), from_1);
  }
}

}  // namespace
}  // namespace px::engine
