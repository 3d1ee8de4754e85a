#include <gtest/gtest.h>

#include <px/engine/outbox.hpp>
#include <tests/wire/requests.hpp>

namespace px {
namespace {

using namespace std::chrono_literals;

class OutboxTest : public ::testing::Test {
 protected:
  OutboxTest() {
    loop_.on_wake([this] { is_woken_ = true; });
  }

  /// Whether somebody has woken the I/O thread since the last call.
  bool was_woken() {
    is_woken_ = false;
    loop_.wait_until(Instant{});
    return is_woken_;
  }

  std::vector<std::string> taken(Instant now) {
    std::vector<std::string> result;
    for (const Mail& mail : outbox_.take(now)) {
      const auto& message = std::get<Outgoing>(mail);
      result.push_back(message.type + " " + message.content);
    }
    return result;
  }

  void busy() { outbox_.publish_status(request_, "busy"); }
  void reply() { outbox_.reply(request_, "apply_reply", "{}", "{}"); }
  void idle() { outbox_.publish_status(request_, "idle"); }

  const Instant start_ = Clock::now();
  testing::Sender sender_;
  RequestPtr request_ = sender_.request("apply_request");
  Loop loop_;
  Outbox outbox_{"{}", loop_.waker()};
  bool is_woken_ = false;
};

TEST_F(OutboxTest, WakesAtOnceWhereNobodyHasPromisedToLook) {
  busy();
  EXPECT_TRUE(was_woken());
  EXPECT_EQ(taken(start_).size(), 1u);
}

TEST_F(OutboxTest, SendsAShortRequestsMessagesTogether) {
  outbox_.expect_mail(start_);
  busy();
  reply();
  EXPECT_FALSE(was_woken());
  idle();
  EXPECT_TRUE(was_woken());
  EXPECT_EQ(taken(start_),
            (std::vector<std::string>{R"(status {"execution_state": "busy"})", "apply_reply {}",
                                      R"(status {"execution_state": "idle"})"}));
}

TEST_F(OutboxTest, ANativeReplyIsTheLastOfItsRequestAndDoesNotWait) {
  request_ = sender_.request("call_request");
  outbox_.expect_mail(start_);
  reply();
  EXPECT_TRUE(was_woken());
}

TEST_F(OutboxTest, WhatDoesNotWakeIsTakenWithinTheTimePromised) {
  outbox_.expect_mail(start_);
  busy();
  EXPECT_EQ(outbox_.next_deadline(), start_ + Outbox::patience);
  EXPECT_EQ(taken(start_ + Outbox::patience).size(), 1u);
}

TEST_F(OutboxTest, APromiseEndsWhenItWasKeptAndNothingCame) {
  outbox_.expect_mail(start_);
  EXPECT_TRUE(taken(start_ + Outbox::patience).empty());
  EXPECT_EQ(outbox_.next_deadline(), std::nullopt);
  reply();
  EXPECT_TRUE(was_woken());
}

TEST_F(OutboxTest, MailThatCameKeepsThePromise) {
  outbox_.expect_mail(start_);
  idle();
  EXPECT_TRUE(was_woken());
  EXPECT_EQ(taken(start_).size(), 1u);
  EXPECT_EQ(outbox_.next_deadline(), std::nullopt);
}

TEST_F(OutboxTest, LooksAgainWhereFurtherRequestsWait) {
  idle();
  EXPECT_TRUE(was_woken());
  EXPECT_EQ(outbox_.take(start_, true).size(), 1u);
  busy();  // of the next request
  EXPECT_FALSE(was_woken());
  EXPECT_EQ(outbox_.next_deadline(), start_ + Outbox::patience);
}

TEST_F(OutboxTest, DoesNotLookAgainAndAgainWhileALongRequestRuns) {
  outbox_.expect_mail(start_);
  EXPECT_TRUE(outbox_.take(start_ + Outbox::patience, true).empty());
  EXPECT_EQ(outbox_.next_deadline(), std::nullopt);
}

TEST_F(OutboxTest, WakesOnceForWhatGathers) {
  idle();
  EXPECT_TRUE(was_woken());
  outbox_.publish("display_data", "{}", "", {});
  idle();
  EXPECT_FALSE(was_woken());
  EXPECT_EQ(taken(start_).size(), 3u);
  outbox_.publish("display_data", "{}", "", {});
  EXPECT_TRUE(was_woken());
}

TEST_F(OutboxTest, WhatWasPrintedGoesOutBeforeTheReply) {
  outbox_.set_request(request_);
  outbox_.write("stdout", "hello");
  reply();
  const std::vector<std::string> sent = taken(start_);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0], R"(stream {"name":"stdout","text":"hello"})");
}

TEST_F(OutboxTest, CountsWhatIsPublishedForARequestTextIncluded) {
  outbox_.set_request(request_);
  EXPECT_EQ(outbox_.flush_publications(), 0u);
  outbox_.write("stdout", "a");
  outbox_.write("stdout", "b");
  outbox_.write("stderr", "c");
  outbox_.publish("display_data", "{}", "", {});
  outbox_.write("stdout", "d");
  EXPECT_EQ(outbox_.flush_publications(), 4u);
  EXPECT_EQ(outbox_.flush_publications(), 4u);
  reply();
  EXPECT_EQ(taken(start_).size(), 5u);
}

TEST_F(OutboxTest, WhatGatheredForTheLastRequestCountsForItAlone) {
  outbox_.set_request(request_);
  outbox_.write("stdout", "late");
  outbox_.set_request(sender_.request("call_request"));
  outbox_.write("stdout", "mine");
  EXPECT_EQ(outbox_.flush_publications(), 1u);
  EXPECT_EQ(taken(start_).size(), 2u);
}

}  // namespace
}  // namespace px
