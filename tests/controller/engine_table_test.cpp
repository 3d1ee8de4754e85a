#include "controller/membership/engine_table.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

const EngineUuid ann{"ann"}, bob{"bob"}, cid{"cid"};
Instant at(Duration since_start) {
  return Instant{} + since_start;
}

int id_of(EngineTable& table, const EngineUuid& uuid, std::optional<int> wanted = {}) {
  const auto id =
      table.request(uuid, wanted ? std::optional(EngineId{*wanted}) : std::nullopt, at(0s));
  return id ? id->value : -1;
}

TEST(EngineTable, IdsAreCountedUp) {
  EngineTable table{30s};
  EXPECT_EQ(id_of(table, ann), 0);
  EXPECT_EQ(id_of(table, bob), 1);
}

TEST(EngineTable, AnEngineIsRegisteredOnceItsHeartIsHeard) {
  EngineTable table{30s};
  id_of(table, ann);
  EXPECT_TRUE(table.engines().empty());
  EXPECT_TRUE(table.is_pending("ann"));
  EXPECT_EQ(table.complete(ann), (RegisteredEngine{EngineId{0}, ann}));
  EXPECT_EQ(table.complete(ann), std::nullopt);
  EXPECT_EQ(table.find("ann"), EngineId{0});
}

TEST(EngineTable, ARequestedIdIsGranted) {
  EngineTable table{30s};
  EXPECT_EQ(id_of(table, ann, 5), 5);
  EXPECT_EQ(id_of(table, bob), 6);
  EXPECT_EQ(id_of(table, cid, 2), 2);
}

TEST(EngineTable, ARequestedIdThatSomebodyHasIsNotGranted) {
  EngineTable table{30s};
  id_of(table, ann, 1);
  EXPECT_EQ(id_of(table, bob, 1), 2);  // while the other is pending
  table.complete(ann);
  EXPECT_EQ(id_of(table, cid, 1), 3);  // and when it is registered
}

TEST(EngineTable, AnIdIsNotGivenTwiceUnlessItIsRequested) {
  EngineTable table{30s};
  id_of(table, ann);
  table.complete(ann);
  table.remove(ann);
  EXPECT_EQ(id_of(table, bob), 1);
  EXPECT_EQ(id_of(table, cid, 0), 0);
}

TEST(EngineTable, IdsOfEnginesThatMayComeBackAreKeptForThem) {
  EngineTable table{30s};
  const std::map<EngineId, EngineUuid> former{{EngineId{0}, ann}, {EngineId{1}, bob}};
  EXPECT_EQ(table.request(cid, std::nullopt, at(0s), "", former)->value, 2);
  EXPECT_EQ(table.request(ann, EngineId{0}, at(0s), "", former)->value, 0);
  // Who wants one of them gets it, e.g. a rank of the MPI world that takes their place.
  EXPECT_EQ(table.request(EngineUuid{"eve"}, EngineId{1}, at(0s), "", former)->value, 1);
}

TEST(EngineTable, AUuidIsRefusedWhileItIsInUse) {
  EngineTable table{30s};
  id_of(table, ann);
  const auto again = table.request(ann, std::nullopt, at(0s));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().what, "uuid 'ann' in use");
  table.complete(ann);
  EXPECT_FALSE(table.request(ann, std::nullopt, at(0s)));
}

TEST(EngineTable, RemovingIsIdempotentAndForgetsPendingOnesToo) {
  EngineTable table{30s};
  id_of(table, ann);
  EXPECT_EQ(table.remove(ann), std::nullopt);
  EXPECT_FALSE(table.is_pending("ann"));
  id_of(table, bob);
  table.complete(bob);
  EXPECT_EQ(table.remove(EngineId{1}), (RegisteredEngine{EngineId{1}, bob}));
  EXPECT_EQ(table.remove(EngineId{1}), std::nullopt);
}

TEST(EngineTable, APendingEngineThatIsNotHeardIsForgotten) {
  EngineTable table{30s};
  id_of(table, ann);
  EXPECT_EQ(table.next_deadline(), at(30s));
  EXPECT_TRUE(table.expire(at(29s)).empty());
  EXPECT_EQ(table.expire(at(30s)).size(), 1u);
  EXPECT_EQ(table.next_deadline(), std::nullopt);
  EXPECT_EQ(table.complete(ann), std::nullopt);
}

TEST(EngineTable, APendingEngineWhoseProcessLivesIsWaitedForHoweverLongItTakesToStart) {
  EngineTable table{30s};
  id_of(table, ann);
  id_of(table, bob);
  const auto ann_lives = [](const EngineUuid& uuid) { return uuid == ann; };
  EXPECT_EQ(table.expire(at(30s), ann_lives).size(), 1u);
  EXPECT_EQ(table.next_deadline(), at(60s));
  EXPECT_TRUE(table.is_pending(ann.text));
  EXPECT_TRUE(table.complete(ann));
}

TEST(EngineTable, WhatWasWrittenCanBeRestored) {
  EngineTable table{30s};
  for (const auto& uuid : {ann, bob, cid}) {
    id_of(table, uuid);
    table.complete(uuid);
  }
  table.remove(cid);
  EngineTable other{30s};
  const auto engines = other.restore(table.write(EngineTable{30s}));
  ASSERT_TRUE(engines);
  EXPECT_EQ(*engines, (std::vector<RegisteredEngine>{{EngineId{0}, ann}, {EngineId{1}, bob}}));
  EXPECT_EQ(other.engines(), table.engines());
  EXPECT_EQ(id_of(other, cid), 3);
}

TEST(EngineTable, EnginesOfAnEarlierControllerThatMayComeBackAreWrittenToo) {
  EngineTable former{30s}, table{30s}, later{30s};
  for (const auto& uuid : {ann, bob}) {
    ASSERT_TRUE(former.request(uuid, {}, at(0s), "python"));
    former.complete(uuid);
  }
  ASSERT_TRUE(table.request(cid, EngineId{0}, at(0s)));  // ann's
  table.complete(cid);
  ASSERT_TRUE(later.restore(table.write(former)));
  EXPECT_EQ(later.engines(),
            (std::map<EngineId, EngineUuid>{{EngineId{0}, cid}, {EngineId{1}, bob}}));
  EXPECT_EQ(later.language_of(bob), "python");
}

TEST(EngineTable, KnowsWhatAnEngineSpeaksUntilItLeaves) {
  EngineTable table{30s};
  ASSERT_TRUE(table.request(ann, {}, at(0s), "cpp"));
  ASSERT_TRUE(table.request(bob, {}, at(0s)));
  table.complete(ann);
  table.complete(bob);
  EXPECT_EQ(table.language_of(ann), "cpp");
  EXPECT_EQ(table.language_of(bob), "");
  EngineTable restored{30s};
  ASSERT_TRUE(restored.restore(table.write(EngineTable{30s})));
  EXPECT_EQ(restored.language_of(ann), "cpp");
  table.remove(ann);
  EXPECT_EQ(table.language_of(ann), "");
}

TEST(EngineTable, ForgetsWhatAnEngineSpeaksThatNeverCame) {
  EngineTable table{30s};
  ASSERT_TRUE(table.request(ann, {}, at(0s), "cpp"));
  table.expire(at(31s));
  EXPECT_EQ(table.language_of(ann), "");
}

TEST(EngineTable, AnEngineThatWasRemovedAndLivesMayComeBackUnderItsId) {
  EngineTable table{30s};
  id_of(table, ann);
  table.complete(ann);
  const RegisteredEngine engine = *table.remove(ann);
  EXPECT_EQ(table.readmit(engine, "cpp"), engine);
  EXPECT_EQ(table.find("ann"), EngineId{0});
  EXPECT_EQ(table.language_of(ann), "cpp");
}

TEST(EngineTable, AnEngineWhoseIdWasGivenAwayDoesNotComeBack) {
  EngineTable table{30s};
  id_of(table, ann);
  table.complete(ann);
  const RegisteredEngine engine = *table.remove(ann);
  id_of(table, bob, 0);
  EXPECT_EQ(table.readmit(engine, ""), std::nullopt);
}

TEST(EngineTable, AMalformedTableRestoresNothing) {
  for (const char* text : {"", "[]", "{}", R"({"engines":{"x":"ann"},"next_id":1})",
                           R"({"engines":{"0":7},"next_id":1})", R"({"engines":{"0":"ann"}})"}) {
    EngineTable table{30s};
    EXPECT_FALSE(table.restore(text)) << text;
    EXPECT_TRUE(table.engines().empty());
  }
}

}  // namespace
}  // namespace px::controller
