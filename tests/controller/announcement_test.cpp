#include "controller/setup/announcement.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using Texts = std::vector<std::string>;

HostFacts host(Texts name_stands_for = {"10.0.0.1"}) {
  return {"head",
          {{"lo", "127.0.0.1"}, {"eth0", "10.0.0.1"}, {"eth1", "10.1.0.1"}, {"eth0", "fd00::1"}},
          std::move(name_stands_for)};
}

TEST(Announcement, OfAllAddressesNamesEachOneThatOthersReachAndTheHost) {
  const Announcement said = announce({"*"}, "", host());
  EXPECT_EQ(said.addresses, Texts({"10.0.0.1", "10.1.0.1", "fd00::1", "head"}));
  EXPECT_EQ(said.location, "head");
}

TEST(Announcement, OfAllIPv4AddressesNamesNoOther) {
  EXPECT_EQ(announce({"0.0.0.0"}, "", host()).addresses, Texts({"10.0.0.1", "10.1.0.1", "head"}));
}

TEST(Announcement, PutsWhatTheUserSaysFirst) {
  const Announcement said = announce({"*"}, "gate.example", host());
  EXPECT_EQ(said.addresses.front(), "gate.example");
  EXPECT_EQ(said.location, "gate.example");
}

TEST(Announcement, DoesNotGiveANameThatLeadsBackToLoopback) {
  const Announcement said = announce({"*"}, "", host({"127.0.1.1"}));
  EXPECT_EQ(said.location, "10.0.0.1");
  EXPECT_EQ(said.addresses, Texts({"10.0.0.1", "10.1.0.1", "fd00::1"}));
}

TEST(Announcement, OfChosenAddressesNamesThoseAlone) {
  EXPECT_EQ(announce({"10.1.0.1", "::1"}, "", host({})).addresses, Texts({"10.1.0.1"}));
  EXPECT_EQ(announce({"10.1.0.1", "10.0.0.1"}, "", host({})).location, "10.1.0.1");
}

TEST(Announcement, OfLoopbackAloneIsAsItAlwaysWas) {
  EXPECT_EQ(announce({"127.0.0.1"}, "", host()).location, "head");
  EXPECT_EQ(announce({"127.0.0.1"}, "me", host()).location, "me");
  EXPECT_TRUE(announce({"127.0.0.1", "::1"}, "me", host()).addresses.empty());
}

TEST(Announcement, AddressesAreListedWithCommas) {
  EXPECT_EQ(split_addresses("10.0.0.1, ::1"), Texts({"10.0.0.1", "::1"}));
  EXPECT_EQ(split_addresses("*"), Texts({"*"}));
  EXPECT_TRUE(split_addresses("").empty());
}

}  // namespace
}  // namespace px::controller
