#include "client/reconnect/broken_links.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

class BrokenLinksTest : public testing::Test {
 protected:
  BrokenLinksTest() {
    for (const LinkKind link : {LinkKind::direct, LinkKind::balanced, LinkKind::broadcast,
                                LinkKind::control, LinkKind::news, LinkKind::output})
      EXPECT_FALSE(links.connected(link));
  }
  void breaks(LinkKind link) {
    links.disconnected(link);
    EXPECT_TRUE(links.connected(link));
  }
  BrokenLinks links;
};

TEST_F(BrokenLinksTest, WhatTookAConnectionThatBrokeIsRepeated) {
  EXPECT_FALSE(links.take().any());
  breaks(LinkKind::balanced);
  links.disconnected(LinkKind::direct);  // it does not stand yet
  const Breaks first = links.take();
  EXPECT_EQ(first.to_repeat(), std::set{RequestChannel::balanced});
  EXPECT_FALSE(first.of_output);
  EXPECT_TRUE(links.connected(LinkKind::direct));
  EXPECT_EQ(links.take().to_repeat(), std::set{RequestChannel::direct});
  EXPECT_FALSE(links.take().any());
}

TEST_F(BrokenLinksTest, MissedNewsMayBeThatTheConnectionOfAnEngineBroke) {
  breaks(LinkKind::news);
  const Breaks missed = links.take();
  EXPECT_TRUE(missed.any());
  EXPECT_TRUE(missed.channels.empty());
  EXPECT_EQ(missed.to_repeat(), (std::set{RequestChannel::direct, RequestChannel::broadcast}));
}

TEST_F(BrokenLinksTest, NewsOfANewControllerAreMissedUntilTheirConnectionStands) {
  breaks(LinkKind::broadcast);
  links.disconnected(LinkKind::direct);
  links.disconnected(LinkKind::news);
  links.controller_changed();
  EXPECT_FALSE(links.take().any());
  EXPECT_FALSE(links.connected(LinkKind::direct));  // what it was given since then waits in it
  EXPECT_TRUE(links.connected(LinkKind::news));
  EXPECT_TRUE(links.take().of_news);
}

TEST(BrokenLinks, SubscriptionsAreThereOnceBothConnectionsStood) {
  BrokenLinks links;
  links.disconnected(LinkKind::news);  // nobody listened yet
  EXPECT_FALSE(links.connected(LinkKind::news));
  EXPECT_FALSE(links.are_subscribed());
  EXPECT_FALSE(links.connected(LinkKind::output));
  EXPECT_TRUE(links.are_subscribed());
}

TEST(ReturningEngines, ComeToANewControllerOneAfterTheOther) {
  using namespace std::chrono_literals;
  ReturningEngines returning;
  const Instant start = Instant{} + 1h;
  EXPECT_FALSE(returning.are_expected(start));
  returning.expect(start);
  EXPECT_TRUE(returning.are_expected(start + 9s));
  EXPECT_FALSE(returning.are_expected(start + 10s));
}

}  // namespace
}  // namespace px::client
