#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "engine/mpi/host_roll_call.hpp"

namespace px::engine {
namespace {

/// Three ranks, each with the roll call as it sees it, over counts of which each rank has two.
class HostRollCallTest : public testing::Test {
 protected:
  /// use  which of its counts each rank has for it.
  std::vector<HostRollCall> make(std::array<std::size_t, 3> use) {
    std::array<HostRollCall::Place, 3> places;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      HostCount& count = counts[rank][use[rank]];
      places[rank] = {&count, HostRollCall::used(count)};
    }
    std::vector<HostRollCall> made;
    for (std::size_t rank = 0; rank < 3; ++rank)
      made.emplace_back(places[rank], std::vector{places[(rank + 1) % 3], places[(rank + 2) % 3]});
    return made;
  }

  void all_come_to(std::vector<HostRollCall>& ranks, std::uint64_t epoch, std::uint64_t n) {
    for (HostRollCall& rank : ranks) rank.come_to(epoch, n);
    for (HostRollCall& rank : ranks) ASSERT_TRUE(rank.have_all_come());
  }

  std::array<std::array<HostCount, 2>, 3> counts;
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

}  // namespace
}  // namespace px::engine
