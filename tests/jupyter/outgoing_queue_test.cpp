#include <gtest/gtest.h>

#include <thread>

#include "jupyter/input_channel.hpp"
#include "jupyter/outgoing_queue.hpp"
#include "tests/wire/requests.hpp"

namespace px::jupyter {
namespace {

using namespace std::chrono_literals;

class OutgoingQueueTest : public ::testing::Test {
 protected:
  OutgoingQueueTest() {
    loop_.on_wake([this] { is_woken_ = true; });
  }

  /// Whether somebody has woken the I/O thread since the last call.
  bool was_woken() {
    is_woken_ = false;
    loop_.wait_until(net::Loop::at_once);
    return is_woken_;
  }

  void fill() {
    const std::string megabyte(1 << 20, 'x');
    while (!queue_.is_full()) queue_.publish("display_data", megabyte, "", {});
  }

  std::string name_of(const RequestPtr& request) {
    return !request ? "nobody" : request == cell_ ? "cell" : "other";
  }

  std::string taken(Instant now = Instant::max()) {
    std::string lines;
    for (const OutgoingItem& item : queue_.take(now)) {
      const auto& message = std::get<Outgoing>(item);
      lines += message.type + " for " + name_of(message.request) + " " + message.content + "\n";
    }
    return lines;
  }

  testing::Sender sender_;
  const RequestPtr cell_ = sender_.request("execute_request");
  const RequestPtr other_ = sender_.request("execute_request");
  net::Loop loop_;
  ReplyFormats formats_{{std::make_shared<ReplyFormat>()}};
  OutgoingQueue queue_{formats_, loop_.waker()};
  bool is_woken_ = false;
};

TEST_F(OutgoingQueueTest, OutputKeepsItsOrderAndComesBeforeTheReply) {
  queue_.set_request(cell_);
  queue_.write("stdout", "one ");
  queue_.write("stdout", "line");
  queue_.publish("display_data", "{}", "", {});
  queue_.write("stderr", "oh");
  queue_.reply(cell_, "{}");
  EXPECT_EQ(taken(),
            "stream for cell {\"name\":\"stdout\",\"text\":\"one line\"}\n"
            "display_data for cell {}\n"
            "stream for cell {\"name\":\"stderr\",\"text\":\"oh\"}\n"
            "execute_reply for cell {}\n");
}

TEST_F(OutgoingQueueTest, WhatAnOlderCellsThreadPrintsBelongsToThatCell) {
  queue_.set_request(cell_);
  queue_.write("stdout", "a");
  queue_.write("stdout", "b", other_);
  queue_.publish("display_data", "{}", "", {}, other_);
  EXPECT_EQ(taken(),
            "stream for cell {\"name\":\"stdout\",\"text\":\"a\"}\n"
            "stream for other {\"name\":\"stdout\",\"text\":\"b\"}\n"
            "display_data for other {}\n");
}

TEST_F(OutgoingQueueTest, WhatChildProcessesPrintedComesBeforeWhatFollowsIt) {
  int captures = 0;
  queue_.set_request(cell_);
  queue_.set_capture([&] { queue_.add_captured("stdout", std::to_string(++captures) + " "); });
  queue_.write("stdout", "one ");
  queue_.publish_status(queue_.request(), "idle");
  EXPECT_EQ(taken(),
            "stream for cell {\"name\":\"stdout\",\"text\":\"1 one 2 \"}\n"
            "status for cell {\"execution_state\": \"idle\"}\n");
}

TEST_F(OutgoingQueueTest, WhatIsCapturedBelongsToTheRequestThatRunsOrRanLast) {
  std::string pending;
  queue_.set_capture([&] {
    if (const std::string text = std::exchange(pending, ""); !text.empty())
      queue_.add_captured("stdout", text);
  });
  EXPECT_TRUE(queue_.add_captured("stdout", "at the start"));  // for the log alone
  queue_.set_request(cell_);
  EXPECT_FALSE(queue_.add_captured("stdout", "running, "));
  pending = "at its end, ";
  queue_.publish_status(cell_, "busy");
  EXPECT_FALSE(queue_.add_captured("stdout", ""));
  queue_.publish_status(cell_, "idle");
  EXPECT_TRUE(queue_.add_captured("stdout", "later, "));
  pending = "before the next";
  queue_.set_request(other_);
  EXPECT_FALSE(queue_.add_captured("stdout", "other"));
  EXPECT_EQ(taken(),
            "stream for cell {\"name\":\"stdout\",\"text\":\"running, at its end, \"}\n"
            "status for cell {\"execution_state\": \"busy\"}\n"
            "status for cell {\"execution_state\": \"idle\"}\n"
            "stream for cell {\"name\":\"stdout\",\"text\":\"later, before the next\"}\n"
            "stream for other {\"name\":\"stdout\",\"text\":\"other\"}\n");
}

TEST_F(OutgoingQueueTest, ARequestThatIsAbandonedGetsItsOutputButNoErrorAndNoReply) {
  queue_.set_request(cell_);
  queue_.abandon_request();
  queue_.write("stdout", "said");
  queue_.publish("error", "{}", "{}", {});
  queue_.reply(cell_, "{}");
  queue_.reply(other_, "{}");
  EXPECT_EQ(taken(),
            "stream for cell {\"name\":\"stdout\",\"text\":\"said\"}\n"
            "execute_reply for other {}\n");
}

TEST_F(OutgoingQueueTest, ARequestThatBeginsWhenTheProcessIsEndingIsAbandonedAsWell) {
  queue_.abandon_request();
  queue_.set_request(cell_);
  queue_.reply(cell_, "{}");
  EXPECT_EQ(taken(), "");
}

TEST_F(OutgoingQueueTest, ARequestThatHasEndedIsNotAbandoned) {
  queue_.set_request(cell_);
  queue_.end_request();
  queue_.abandon_request();
  queue_.reply(cell_, "{}");
  EXPECT_EQ(taken(), "execute_reply for cell {}\n");
}

TEST_F(OutgoingQueueTest, TextGathersForAMoment) {
  queue_.write("stdout", "a");
  EXPECT_TRUE(was_woken());  // the I/O thread has to learn the deadline
  const auto due = queue_.next_deadline();
  ASSERT_TRUE(due);
  EXPECT_EQ(taken(*due - 1ms), "");
  EXPECT_EQ(taken(*due), "stream for nobody {\"name\":\"stdout\",\"text\":\"a\"}\n");
}

TEST_F(OutgoingQueueTest, WakesOnceForWhatGathers) {
  queue_.publish_status(cell_, "busy");
  EXPECT_TRUE(was_woken());
  queue_.publish("display_data", "{}", "", {});
  queue_.publish_status(cell_, "idle");
  EXPECT_FALSE(was_woken());
  EXPECT_EQ(queue_.take(Clock::now()).size(), 3u);
  queue_.publish("display_data", "{}", "", {});
  EXPECT_TRUE(was_woken());
}

TEST_F(OutgoingQueueTest, CountsWhatIsPublishedForTheRequestTextIncluded) {
  queue_.set_request(cell_);
  EXPECT_EQ(queue_.flush_publications(), 0u);
  queue_.write("stdout", "a");
  queue_.write("stdout", "b");
  queue_.write("stderr", "c");
  queue_.publish("display_data", "{}", "", {});
  queue_.write("stdout", "d");
  EXPECT_EQ(queue_.flush_publications(), 4u);
  EXPECT_EQ(queue_.flush_publications(), 4u);
  queue_.reply(cell_, "{}");
  EXPECT_EQ(queue_.take(Clock::now()).size(), 5u);
}

TEST_F(OutgoingQueueTest, WhatBelongsToAnotherRequestDoesNotCount) {
  queue_.set_request(cell_);
  queue_.write("stdout", "late");
  queue_.set_request(other_);
  queue_.write("stdout", "mine");
  queue_.publish("display_data", "{}", "", {}, cell_);
  EXPECT_EQ(queue_.flush_publications(), 1u);
  EXPECT_EQ(queue_.take(Clock::now()).size(), 3u);
}

TEST_F(OutgoingQueueTest, WhoPrintsMoreThanIsReadWaitsUntilItIsSent) {
  fill();
  EXPECT_FALSE(queue_.wait_for_room(0ms));
  std::vector<OutgoingItem> items = queue_.take(Instant::max());
  std::size_t bytes = 0;
  for (const OutgoingItem& each : items) bytes += std::get<Outgoing>(each).bytes();
  EXPECT_GE(bytes, OutgoingQueue::max_bytes);
  EXPECT_TRUE(queue_.is_full());  // taken is not sent
  was_woken();
  std::thread sender{[&] { items.clear(); }};
  EXPECT_TRUE(queue_.wait_for_room(60s));
  sender.join();
  EXPECT_TRUE(was_woken());  // the I/O thread may read what C code prints again
}

TEST_F(OutgoingQueueTest, NobodyWaitsForRoomWhenNothingIsSentAnyMore) {
  fill();
  std::thread closer{[&] { queue_.close(); }};
  EXPECT_TRUE(queue_.wait_for_room(60s));
  closer.join();
  EXPECT_FALSE(queue_.is_full());
}

TEST_F(OutgoingQueueTest, WhatBelongsToAPeerHasItsFormatAndItsNumber) {
  struct Named final : ReplyFormat {
    std::string metadata() const override { return "named"; }
  };
  const ReplyFormats formats{{std::make_shared<ReplyFormat>(), std::make_shared<Named>()}};
  OutgoingQueue queue{formats, loop_.waker()};
  testing::Sender second{"another key", 1};
  const RequestPtr request = second.request("execute_request");
  queue.publish_status(nullptr, "starting");
  queue.set_request(request);
  queue.write("stdout", "text");
  queue.publish("display_data", "{}", "", {});
  queue.reply(request, "{}");
  queue.ask_user(request, "{}");
  queue.publish_status(cell_, "idle");
  std::string lines;
  for (const OutgoingItem& item : queue.take(Instant::max())) {
    const auto& message = std::get<Outgoing>(item);
    lines += std::to_string(peer_of(item)) + " " + message.type + " " + message.metadata + "\n";
  }
  EXPECT_EQ(lines,
            "0 status {}\n1 stream named\n1 display_data named\n1 execute_reply named\n"
            "1 input_request named\n0 status {}\n");
  queue.perform(request, {});
  EXPECT_EQ(peer_of(queue.take(Instant::max()).at(0)), 1u);
}

TEST(InputChannel, OnlyAnAnswerToTheLastQuestionCounts) {
  InputChannel channel;
  channel.put("nobody asked");
  EXPECT_FALSE(channel.wait(0ms));
  channel.expect();
  channel.put("old");
  channel.expect();
  EXPECT_FALSE(channel.wait(0ms));
  std::thread user{[&] { channel.put("yes"); }};
  EXPECT_EQ(channel.wait(60s), "yes");
  user.join();
  EXPECT_FALSE(channel.wait(0ms));
}

TEST(InputChannel, AskingIsAllowedByEachRequestAnew) {
  InputChannel channel;
  EXPECT_FALSE(channel.is_allowed());
  channel.set_allowed(true);
  EXPECT_TRUE(channel.is_allowed());
}

}  // namespace
}  // namespace px::jupyter
