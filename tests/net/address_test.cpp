#include <px/net/address.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace px {
namespace {

TEST(Address, OfThisHostIsLocal) {
  const auto addresses = local_addresses();
  EXPECT_NE(std::find(addresses.begin(), addresses.end(), "127.0.0.1"), addresses.end());
  for (const std::string& address : addresses) EXPECT_TRUE(is_local_address(address)) << address;
  EXPECT_TRUE(is_local_address("127.0.1.1"));
  EXPECT_FALSE(is_local_address("203.0.113.1"));
  EXPECT_FALSE(is_local_address(""));
  EXPECT_FALSE(host_name().empty());
}

TEST(DialInterface, IsUsedAsItIsWhereItNamesAnAddress) {
  EXPECT_EQ(dial_interface("tcp://203.0.113.1", "elsewhere"), "tcp://203.0.113.1");
  EXPECT_EQ(dial_interface("tcp://127.0.0.1", "elsewhere"), "tcp://127.0.0.1");
  EXPECT_EQ(dial_interface("no interface", "elsewhere"), "no interface");
}

TEST(DialInterface, IsLoopbackForAControllerOnThisHost) {
  for (const std::string_view any : {"tcp://*", "tcp://0.0.0.0"}) {
    EXPECT_EQ(dial_interface(any, ""), "tcp://127.0.0.1");
    EXPECT_EQ(dial_interface(any, host_name()), "tcp://127.0.0.1");
    EXPECT_EQ(dial_interface(any, "localhost"), "tcp://127.0.0.1");
    EXPECT_EQ(dial_interface(any, "127.0.0.1"), "tcp://127.0.0.1");
  }
}

TEST(DialInterface, IsTheLocationForAControllerElsewhere) {
  EXPECT_EQ(dial_interface("tcp://*", "203.0.113.1"), "tcp://203.0.113.1");
  EXPECT_EQ(dial_interface("tcp://0.0.0.0", "203.0.113.1"), "tcp://203.0.113.1");
}

TEST(DialInterface, IsTheTextOfALocationThatDoesNotResolve) {
  EXPECT_EQ(dial_interface("tcp://*", "nowhere.invalid"), "tcp://nowhere.invalid");
}

}  // namespace
}  // namespace px
