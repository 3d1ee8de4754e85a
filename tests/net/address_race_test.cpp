#include "net/discovery/address_race.hpp"

#include <gtest/gtest.h>

namespace px::net {
namespace {

using namespace std::chrono_literals;
using Runners = std::vector<std::size_t>;

Instant at(Duration time) {
  return Instant{} + 1h + time;
}

/// What a race says at its end.
std::string said(const AddressRace& race) {
  return explain(race.failures(), 5555, "the file").what;
}

TEST(AddressRace, TheFirstAddressHasAHeadStart) {
  AddressRace race{{"10.0.0.1", "10.0.0.2"}, {.head_start = 250ms, .patience = 4s}};
  EXPECT_EQ(race.start_due(at(0s)), Runners({0}));
  EXPECT_EQ(race.start_due(at(100ms)), Runners());
  EXPECT_EQ(race.next_deadline(), at(250ms));
  EXPECT_EQ(race.start_due(at(250ms)), Runners({1}));
  EXPECT_EQ(race.next_deadline(), at(4s));
}

TEST(AddressRace, TheNextOneStartsAtOnceWhenAllHaveFailed) {
  AddressRace race{{"10.0.0.1", "10.0.0.2"}, {}};
  race.start_due(at(0s));
  race.failed(0, DialFailure::refused);
  EXPECT_EQ(race.start_due(at(1ms)), Runners({1}));
}

TEST(AddressRace, WhoeverAnswersFirstWinsAndEndsIt) {
  AddressRace race{{"dead", "10.0.0.2", "10.0.0.3"}, {}};
  race.start_due(at(0s));
  race.start_due(at(1s));
  race.answered(1);
  EXPECT_TRUE(race.is_over());
  EXPECT_EQ(race.winner(), 1u);
  EXPECT_EQ(race.host(*race.winner()), "10.0.0.2");
  EXPECT_EQ(race.start_due(at(2s)), Runners());
  EXPECT_FALSE(race.next_deadline());
}

TEST(AddressRace, AnAddressThatHasAcceptedTheConnectionMayTakeLongerToAnswer) {
  AddressRace race{{"10.0.0.1", "10.0.0.2"}, {.patience = 4s, .connected_patience = 60s}};
  race.start_due(at(0s));
  race.start_due(at(1s));
  race.connected(1);
  EXPECT_EQ(race.expire(at(5s)), Runners({0}));
  EXPECT_EQ(race.next_deadline(), at(61s));
  EXPECT_EQ(race.expire(at(61s)), Runners({1}));
  EXPECT_EQ(race.failures().at(1).failure, DialFailure::silent);
}

TEST(AddressRace, AnAddressThatSaysNothingIsGivenUpAfterItsTime) {
  AddressRace race{{"10.0.0.1", "10.0.0.2"}, {.head_start = 250ms, .patience = 4s}};
  race.start_due(at(0s));
  race.start_due(at(1s));
  race.connected(1);
  EXPECT_EQ(race.expire(at(4s)), Runners({0}));
  EXPECT_FALSE(race.is_over());
  EXPECT_EQ(race.expire(at(5s)), Runners({1}));
  EXPECT_TRUE(race.is_over());
  EXPECT_EQ(race.failures().at(0).failure, DialFailure::timed_out);
  EXPECT_EQ(race.failures().at(1).failure, DialFailure::silent);
}

TEST(AddressRace, ANameRunsAsAllItsAddressesThatAreNotTriedYet) {
  AddressRace race{{"head", "10.0.0.2"}, {}};
  race.start_due(at(0s));
  race.resolved(0, {"10.0.0.1", "10.0.0.2", "fd00::1"});
  EXPECT_EQ(race.host(0), "10.0.0.1");
  race.failed(0, DialFailure::refused);
  const Runners next = race.start_due(at(1ms));
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(race.host(next.front()), "fd00::1");
}

TEST(AddressRace, ANameOfAddressesThatAreTriedAlreadyIsNoFailureOfItsOwn) {
  AddressRace race{{"10.0.0.1", "head"}, {}};
  race.start_due(at(0s));
  race.failed(0, DialFailure::refused);
  race.start_due(at(1ms));
  race.resolved(1, {"10.0.0.1"});
  EXPECT_TRUE(race.is_over());
  EXPECT_EQ(race.failures().size(), 1u);
}

TEST(AddressRace, WithoutAddressesItIsOver) {
  const AddressRace race{{}, {}};
  EXPECT_TRUE(race.is_over());
  EXPECT_NE(said(race).find("names no address"), std::string::npos);
}

TEST(DialFailure, OneSentenceSaysWhatWasTriedAndWhatEachSaid) {
  AddressRace race{{"10.0.0.1", "fd00::1", "nowhere"}, {}};
  race.start_due(at(0s));
  race.failed(0, DialFailure::refused);
  race.start_due(at(1s));
  race.failed(1, DialFailure::no_route);
  race.start_due(at(2s));
  race.resolved(2, {});
  const std::string text = said(race);
  for (const std::string part : {"tcp://10.0.0.1:5555 refuses", "tcp://[fd00::1]:5555: no route",
                                 "nowhere does not resolve", "--location", "--ports"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(DialFailure, TheFixFitsTheCause) {
  const auto fix = [](DialFailure failure, const std::string& host) {
    return explain({{host, "", failure}}, 5555, "old.json").what;
  };
  EXPECT_NE(
      fix(DialFailure::refused, "127.0.0.1").find("may be left over from a cluster that has ended"),
      std::string::npos);
  EXPECT_NE(fix(DialFailure::timed_out, "10.0.0.1").find("firewall"), std::string::npos);
  for (const DialFailure failure : {DialFailure::wrong_key, DialFailure::silent})
    EXPECT_NE(fix(failure, "10.0.0.1").find("key in old.json"), std::string::npos);
}

}  // namespace
}  // namespace px::net
