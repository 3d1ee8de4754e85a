#include <gtest/gtest.h>

#include "jupyter/peer_queue.hpp"
#include "tests/wire/requests.hpp"

namespace px::jupyter {
namespace {

class PeerQueueTest : public ::testing::Test {
 protected:
  Outgoing message(std::string type, Outgoing::To to = Outgoing::To::everybody) {
    return {to, cell_, std::move(type), "", "twelve bytes", {}, WallTime{}};
  }
  /// The types of what waits.
  std::string drain(PeerQueue& queue) {
    std::string types;
    while (!queue.is_empty()) {
      const OutgoingItem item = queue.pop();
      const auto* sent = std::get_if<Outgoing>(&item);
      types += (types.empty() ? "" : " ") + (sent ? sent->type : "effects");
    }
    return types;
  }

  testing::Sender sender_;
  const RequestPtr cell_ = sender_.request("execute_request");
};

TEST_F(PeerQueueTest, KeepsTheOrder) {
  PeerQueue queue;
  EXPECT_TRUE(queue.push(message("stream")));
  EXPECT_TRUE(queue.push(DeferredEffects{cell_, {}}));
  EXPECT_TRUE(queue.push(message("execute_reply", Outgoing::To::client)));
  EXPECT_EQ(drain(queue), "stream effects execute_reply");
}

TEST_F(PeerQueueTest, ABoundedQueueDropsOutputButNoReplyAndNoState) {
  PeerQueue queue{24};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(queue.push(message("stream")), i < 2);
  EXPECT_EQ(queue.dropped(), 3u);
  EXPECT_TRUE(queue.push(DeferredEffects{cell_, {}}));
  EXPECT_TRUE(queue.push(message("execute_reply", Outgoing::To::client)));
  EXPECT_TRUE(queue.push(message("input_request", Outgoing::To::user)));
  EXPECT_TRUE(queue.push(message("status")));
  EXPECT_EQ(drain(queue), "stream stream effects execute_reply input_request status");
}

TEST_F(PeerQueueTest, WhatWasReadMakesRoom) {
  PeerQueue queue{12};
  EXPECT_TRUE(queue.push(message("stream")));
  EXPECT_FALSE(queue.push(message("stream")));
  queue.pop();
  EXPECT_TRUE(queue.push(message("display_data")));
}

TEST_F(PeerQueueTest, AQueueWithoutABoundDropsNothing) {
  PeerQueue queue;
  EXPECT_FALSE(queue.is_bounded());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(queue.push(message("stream")));
}

}  // namespace
}  // namespace px::jupyter
