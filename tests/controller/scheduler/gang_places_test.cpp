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

std::int64_t number_of(GangPlaces& places, std::vector<WorkerKey> gang, Instant when = now) {
  return places.communicator_of(gang, {gang.begin(), gang.end()}, when).number;
}

TEST(GangPlaces, TheNumberOfACommunicatorStaysUntilOneOfItsRanksIsForgotten) {
  GangPlaces places;
  const auto number = number_of(places, {1, 2});
  EXPECT_EQ(number_of(places, {1, 2}, now + 1s), number);
  EXPECT_NE(number_of(places, {2, 1}), number);  // another order is another communicator
  EXPECT_NE(number_of(places, {2, 3}), number);
  places.forget(3);
  EXPECT_EQ(number_of(places, {1, 2}), number);
  places.forget(2);
  EXPECT_GT(number_of(places, {1, 2}), number);
}

TEST(GangPlaces, ALaterControllerUsesOtherNumbers) {
  GangPlaces earlier, later;
  const auto last = number_of(earlier, {1, 2});
  EXPECT_GT(number_of(later, {1, 2}, now + 1s), last);
}

TEST(GangPlaces, TheEnginesFreeTheCommunicatorThatWasUsedLongestAgo) {
  GangPlaces places{2};
  const auto first = number_of(places, {1, 2}), second = number_of(places, {1, 3});
  EXPECT_EQ(number_of(places, {1, 2}), first);
  EXPECT_TRUE(places.take_unneeded({1, 2, 3, 4}).empty());
  number_of(places, {1, 4});  // the third one of engine 1
  const std::vector<GangCommunicator> dropped{{second, {1, 3}}};
  EXPECT_EQ(places.take_unneeded({1, 4}), dropped);
  EXPECT_TRUE(places.take_unneeded({1, 4}).empty());
  EXPECT_EQ(places.take_unneeded({3, 4}), dropped);  // the other rank is told later
  EXPECT_EQ(number_of(places, {1, 2}), first);
  EXPECT_GT(number_of(places, {1, 3}), second);  // made again
}

TEST(GangPlaces, EachUnneededCommunicatorIsNamedOnce) {
  GangPlaces places{1};
  const auto first = number_of(places, {1, 2});
  number_of(places, {1, 2, 3});
  EXPECT_EQ(places.take_unneeded({1, 2, 3}), (std::vector<GangCommunicator>{{first, {1, 2}}}));
}

TEST(GangPlaces, ForgottenCommunicatorsDoNotCount) {
  GangPlaces places{1};
  number_of(places, {1, 2});
  places.forget(2);
  const auto number = number_of(places, {1, 3});
  EXPECT_TRUE(places.take_unneeded({1, 3}).empty());
  EXPECT_EQ(number_of(places, {1, 3}), number);
}

}  // namespace
}  // namespace px::controller
