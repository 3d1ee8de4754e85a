#include "controller/relay/waiting_messages.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

Instant at(Duration since_start) {
  return Instant{} + 1h + since_start;
}

class WaitingMessagesTest : public testing::Test {
 protected:
  void push(const std::string& peer, const std::string& text, Duration now,
            Instant until = Instant::max()) {
    waiting_.push({peer, {text}, {}, 10, until}, at(now));
  }
  /// The texts of what is overdue.
  std::vector<std::string> on_time(Duration now) {
    return texts(waiting_.on_time(at(now), [this](const WaitingMessages::Message& message) {
      ++tries_;
      if (!connected_.contains(message.peer)) return false;
      sent_.push_back(message.head.front());
      return true;
    }));
  }
  static std::vector<std::string> texts(const std::vector<WaitingMessages::Message>& messages) {
    std::vector<std::string> all;
    for (const auto& each : messages) all.push_back(each.head.front());
    return all;
  }
  using Texts = std::vector<std::string>;

  WaitingMessages waiting_;
  std::set<std::string> connected_;
  Texts sent_;
  int tries_ = 0;
};

TEST_F(WaitingMessagesTest, LeaveInTheirOrderWhenTheirPeerIsConnected) {
  push("ann", "1", 0ms);
  push("bob", "2", 0ms);
  push("ann", "3", 0ms);
  EXPECT_EQ(waiting_.bytes(), 30u);
  EXPECT_EQ(on_time(5ms), Texts{});
  EXPECT_EQ(tries_, 2);  // one for each peer
  connected_ = {"ann"};
  on_time(10ms);
  EXPECT_EQ(sent_, (Texts{"1", "3"}));
  EXPECT_FALSE(waiting_.has("ann"));
  EXPECT_TRUE(waiting_.has("bob"));
  EXPECT_EQ(waiting_.bytes(), 10u);
}

TEST_F(WaitingMessagesTest, AreTriedOftenInTheFirstSecondAndThenLessOften) {
  EXPECT_EQ(waiting_.next_deadline(), std::nullopt);
  push("ann", "1", 0ms);
  EXPECT_EQ(waiting_.next_deadline(), at(5ms));
  on_time(4ms);
  EXPECT_EQ(tries_, 0);
  on_time(5ms);
  EXPECT_EQ(waiting_.next_deadline(), at(10ms));
  on_time(1s);
  EXPECT_EQ(waiting_.next_deadline(), at(1050ms));
}

TEST_F(WaitingMessagesTest, AreOverdueAtTheirTime) {
  push("ann", "1", 0ms, at(100ms));
  push("ann", "2", 0ms, at(200ms));
  EXPECT_EQ(on_time(99ms), Texts{});
  EXPECT_EQ(on_time(150ms), Texts{"1"});
  EXPECT_EQ(on_time(300ms), Texts{"2"});
  EXPECT_TRUE(waiting_.empty());
  EXPECT_EQ(waiting_.bytes(), 0u);
}

TEST_F(WaitingMessagesTest, AreSentAtTheLastMoment) {
  push("ann", "1", 0ms, at(100ms));
  connected_ = {"ann"};
  EXPECT_EQ(on_time(100ms), Texts{});
  EXPECT_EQ(sent_, Texts{"1"});
}

TEST_F(WaitingMessagesTest, OfOnePeerAreTakenOut) {
  push("ann", "1", 0ms);
  push("bob", "2", 0ms);
  EXPECT_EQ(texts(waiting_.take("ann")), Texts{"1"});
  EXPECT_TRUE(waiting_.take("ann").empty());
  EXPECT_EQ(waiting_.bytes(), 10u);
}

}  // namespace
}  // namespace px::controller
