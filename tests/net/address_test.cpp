#include "net/discovery/address.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "os/host.hpp"

namespace px::net {
namespace {

TEST(Address, OfThisHostIsLocal) {
  const auto addresses = local_addresses();
  EXPECT_NE(std::find(addresses.begin(), addresses.end(), "127.0.0.1"), addresses.end());
  for (const std::string& address : addresses) EXPECT_TRUE(is_local_address(address)) << address;
  EXPECT_TRUE(is_local_address("127.0.1.1"));
  EXPECT_FALSE(is_local_address("203.0.113.1"));
  EXPECT_FALSE(is_local_address(""));
  EXPECT_FALSE(os::host_name().empty());
}

TEST(Address, OthersReachNeitherLoopbackNorLinkLocalAddresses) {
  const std::vector<InterfaceAddress> found{{"lo", "127.0.0.1"},       {"lo", "::1"},
                                            {"docker0", "172.17.0.1"}, {"eth0", "fd00::1"},
                                            {"eth0", "fe80::1:2:3"},   {"eth0", "10.0.0.1"},
                                            {"eth1", "169.254.1.2"},   {"eth1", "192.168.1.1"}};
  EXPECT_EQ(reachable_addresses(found),
            (std::vector<std::string>{"10.0.0.1", "192.168.1.1", "fd00::1", "172.17.0.1"}));
}

TEST(Address, AnIPv6AddressStandsInBracketsInAnInterface) {
  EXPECT_EQ(in_brackets("fd00::1"), "[fd00::1]");
  EXPECT_EQ(in_brackets("[fd00::1]"), "[fd00::1]");
  EXPECT_EQ(in_brackets("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(ip_of_interface("tcp://[fd00::1]"), "fd00::1");
  EXPECT_EQ(ip_of_interface("tcp://10.0.0.1"), "10.0.0.1");
  for (const std::string_view any : {"tcp://*", "tcp://0.0.0.0", "tcp://[::]"})
    EXPECT_TRUE(is_wildcard(any)) << any;
  EXPECT_FALSE(is_wildcard("tcp://10.0.0.1"));
}

/// The candidates of a file with this interface, location and addresses, dialed from a host.
std::vector<std::string> candidates(const std::string& interface, const std::string& location,
                                    const std::vector<std::string>& addresses = {}) {
  ConnectionCommon info;
  info.interface = interface;
  info.location = location;
  info.addresses = addresses;
  return dial_candidates(info, OwnHost{"here", {"127.0.0.1", "10.0.0.5"}});
}

using Texts = std::vector<std::string>;

TEST(DialCandidates, AControllerOfThisHostIsTriedAtLoopbackFirst) {
  EXPECT_EQ(candidates("tcp://*", "here"), Texts({"127.0.0.1", "here"}));
  EXPECT_EQ(candidates("tcp://*", ""), Texts({"127.0.0.1"}));
  EXPECT_EQ(candidates("tcp://*", "head", {"10.0.0.5", "10.1.0.5"}),
            Texts({"127.0.0.1", "10.0.0.5", "10.1.0.5", "head"}));
}

TEST(DialCandidates, AControllerElsewhereIsTriedInTheOrderOfItsFile) {
  EXPECT_EQ(candidates("tcp://*", "head", {"10.1.0.1", "fd00::1", "head"}),
            Texts({"10.1.0.1", "fd00::1", "head"}));
  EXPECT_EQ(candidates("tcp://0.0.0.0", "head"), Texts({"head"}));
}

TEST(DialCandidates, AnAddressIsTriedAfterThoseThatWereAdded) {
  EXPECT_EQ(candidates("tcp://10.0.0.9", "here"), Texts({"10.0.0.9"}));
  EXPECT_EQ(candidates("tcp://10.0.0.9", "gate", {"gate", "10.0.0.9"}),
            Texts({"gate", "10.0.0.9"}));
  EXPECT_EQ(candidates("tcp://127.0.0.1", "here"), Texts({"127.0.0.1"}));
}

}  // namespace
}  // namespace px::net
