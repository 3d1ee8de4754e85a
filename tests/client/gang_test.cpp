#include "client/gang.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

const std::vector<EngineId> two{EngineId{3}, EngineId{1}};

GangMember member(int rank, std::int64_t number, std::string run = "a") {
  return {rank, 4, number, std::move(run)};
}

TEST(GangNumber, TheLastCommunicatorIsUsedAgainIfAllRanksHaveIt) {
  EXPECT_EQ(*gang_number(two, {member(3, 2), member(1, 2)}, false), 2);
  EXPECT_EQ(*gang_number(two, {member(3, 2), member(1, 2)}, true), 3);
}

TEST(GangNumber, OtherwiseItIsANewOne) {
  EXPECT_EQ(*gang_number(two, {member(3, 0), member(1, 0)}, false), 1);
  EXPECT_EQ(*gang_number(two, {member(3, 5), member(1, 2)}, false), 6);
}

TEST(GangNumber, EnginesWithoutAWorldHaveNone) {
  const auto number = gang_number({EngineId{0}}, {GangMember{}}, false);
  ASSERT_FALSE(number);
  EXPECT_NE(number.error().what.find("--engines=mpi"), std::string::npos);
}

TEST(GangNumber, AllAreRanksOfOneWorld) {
  EXPECT_TRUE(gang_number(two, {member(3, 0, "a"), member(0, 0, "a")}, false));
  EXPECT_FALSE(gang_number(two, {member(3, 0), member(3, 0)}, false));
  EXPECT_FALSE(gang_number(two, {member(3, 0, "a"), member(1, 0, "b")}, false));
  EXPECT_FALSE(gang_number(two, {member(3, 0), GangMember{1, 8, 0, "a"}}, false));
  EXPECT_EQ(gang_number(two, {member(3, 0, "a"), member(1, 0, "b")}, false).error().what,
            "a gang needs engines of one MPI world; engines 3 and 1 are of several");
  EXPECT_EQ(gang_number(two, {member(3, 0, ""), member(2, 0, "")}, false).error().what,
            "a gang needs engines of one MPI world; as this MPI launcher gives its worlds no "
            "names, the ids of the engines must be their ranks, but engines 3 and 1 are ranks 3 "
            "and 2");
}

}  // namespace
}  // namespace px::client
