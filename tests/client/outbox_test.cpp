#include "client/requests/outbox.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/requests/call.hpp"

namespace px::client {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

/// An outbox whose clock a test sets; messages are told apart by their routes.
class OutboxOfATest : public testing::Test {
 protected:
  void post(const Texts& routes) {
    std::vector<OutgoingRequest> messages;
    for (const std::string& route : routes) messages.emplace_back().head.route = route;
    outbox_.post(std::move(messages));
  }
  /// A turn of the I/O thread.
  Texts take(Duration time, bool is_all_answered = false) {
    Texts routes;
    for (const OutgoingRequest& message : outbox_.take(start + time, is_all_answered))
      routes.push_back(message.head.route);
    return routes;
  }
  static constexpr Instant start = Instant{} + 1h;
  int wakes_ = 0;
  Outbox outbox_{[this] { ++wakes_; }};
};

TEST_F(OutboxOfATest, TheFirstMessageWakesTheThreadThatSends) {
  post({"a"});
  EXPECT_EQ(wakes_, 1);
  post({"b", "c"});
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(take(0ms), (Texts{"a", "b", "c"}));
  EXPECT_EQ(take(0ms), Texts{});
}

TEST_F(OutboxOfATest, WhatFollowsSoonIsSentWithinAMillisecondWithoutAWakeUp) {
  EXPECT_EQ(outbox_.next_deadline(), std::nullopt);
  post({"a"});
  take(0ms);
  post({"b"});
  post({"c"});
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(outbox_.next_deadline(), start + 1ms);
  EXPECT_EQ(take(1ms), (Texts{"b", "c"}));
  EXPECT_EQ(outbox_.next_deadline(), start + 2ms);
}

TEST_F(OutboxOfATest, AfterAMillisecondWithoutMessagesTheNextOneWakes) {
  post({"a"});
  take(0ms);
  EXPECT_EQ(take(1ms), Texts{});
  EXPECT_EQ(outbox_.next_deadline(), std::nullopt);
  post({"b"});
  EXPECT_EQ(wakes_, 2);
}

TEST_F(OutboxOfATest, WhenAllIsAnsweredTheNextMessageWakesAtOnce) {
  post({"a"});
  take(0ms);
  EXPECT_EQ(take(0ms, true), Texts{});
  post({"b"});
  EXPECT_EQ(wakes_, 2);
}

TEST_F(OutboxOfATest, WhoWaitsHurries) {
  post({"a"});
  outbox_.hurry();
  EXPECT_EQ(wakes_, 1);
  take(0ms);
  outbox_.hurry();
  EXPECT_EQ(wakes_, 1);  // nothing is to be sent
  post({"b"});
  outbox_.hurry();
  outbox_.hurry();
  EXPECT_EQ(wakes_, 2);
  EXPECT_EQ(take(0ms), (Texts{"b"}));
}

TEST(OutboxOfACall, IsHurriedByWhoWaits) {
  int wakes = 0;
  const auto outbox = std::make_shared<Outbox>([&wakes] { ++wakes; });
  const Call call{{TaskSent{}}, outbox};
  for (int i = 0; i < 2; ++i) {
    outbox->post(std::vector<OutgoingRequest>(1));
    outbox->take(Instant{} + 1h, false);
  }
  outbox->post(std::vector<OutgoingRequest>(1));
  EXPECT_EQ(wakes, 1);
  EXPECT_FALSE(call.wait_ready(Instant::min()));
  EXPECT_EQ(wakes, 2);
}

}  // namespace
}  // namespace px::client
