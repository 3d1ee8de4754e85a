#include "controller/scheduler/gang_places.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

const EngineUuid ann{"ann"}, bob{"bob"}, cid{"cid"};
constexpr Instant now = Instant{} + 1h;

TEST(GangPlaces, EnginesOfOneWorldAndOneHostHaveTheSameNumbers) {
  GangPlaces places;
  places.placed(ann, {"w", 0, "h"});
  places.placed(bob, {"w", 1, "h"});
  places.placed(cid, {"v", 0, "g"});
  EXPECT_EQ(places.find(ann)->world, places.find(bob)->world);
  EXPECT_NE(places.find(ann)->world, places.find(cid)->world);
  EXPECT_EQ(places.find(ann)->host, places.find(bob)->host);
  EXPECT_NE(places.find(ann)->host, places.find(cid)->host);
  EXPECT_EQ(places.find(bob)->rank, 1);
  EXPECT_FALSE(places.find(EngineUuid{"dan"}));
}

TEST(GangPlaces, NoRankOfABrokenWorldIsInAGangUntilAnotherWorldHasItsName) {
  GangPlaces places;
  places.placed(ann, {"w", 0, "h"});
  places.placed(bob, {"w", 1, "h"});
  places.left(bob, true);
  EXPECT_FALSE(places.find(ann));
  places.left(ann, true);
  places.placed(cid, {"w", 0, "h"});
  EXPECT_TRUE(places.find(cid));
}

TEST(GangPlaces, ARankThatLeavesInOrderBreaksNoWorld) {
  GangPlaces places;
  places.placed(ann, {"w", 0, "h"});
  places.placed(bob, {"w", 1, "h"});
  places.left(bob, false);
  EXPECT_TRUE(places.find(ann));
}

TEST(GangPlaces, WorldsWithTheSameNameAreNotMixed) {
  GangPlaces places;
  places.placed(ann, {"w", 0, "h"});
  places.placed(bob, {"w", 0, "h"});
  EXPECT_FALSE(places.find(ann));
  places.left(bob, false);
  EXPECT_TRUE(places.find(ann));
}

TEST(GangPlaces, RanksOfDifferentLanguagesAreInNoGangTogetherButBreakTheSameWorld) {
  GangPlaces places;
  places.placed(ann, {"w", 0, "h", "python"});
  places.placed(bob, {"w", 1, "h", "cpp"});
  places.placed(cid, {"w", 2, "h", "cpp"});
  EXPECT_NE(places.find(ann)->world, places.find(bob)->world);
  EXPECT_EQ(places.find(bob)->world, places.find(cid)->world);
  places.left(ann, true);
  EXPECT_FALSE(places.find(bob));
}

TEST(GangPlaces, ASecondReportReplacesTheFirst) {
  GangPlaces places;
  places.placed(ann, {"w", 0, "h"});
  places.placed(ann, {"w", 2, "h"});
  EXPECT_EQ(places.find(ann)->rank, 2);
}

TEST(GangPlaces, TheNumberOfACommunicatorStaysUntilOneOfItsRanksIsForgotten) {
  GangPlaces places;
  const auto number = places.number_of({1, 2}, now);
  EXPECT_EQ(places.number_of({1, 2}, now + 1s), number);
  EXPECT_NE(places.number_of({2, 1}, now), number);  // another order is another communicator
  EXPECT_NE(places.number_of({2, 3}, now), number);
  places.forget(3);
  EXPECT_EQ(places.number_of({1, 2}, now), number);
  places.forget(2);
  EXPECT_GT(places.number_of({1, 2}, now), number);
}

TEST(GangPlaces, ALaterControllerUsesOtherNumbers) {
  GangPlaces earlier, later;
  const auto last = earlier.number_of({1, 2}, now);
  EXPECT_GT(later.number_of({1, 2}, now + 1s), last);
}

}  // namespace
}  // namespace px::controller
