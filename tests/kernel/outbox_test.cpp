#include <gtest/gtest.h>

#include <thread>

#include <px/kernel/input_desk.hpp>
#include <px/kernel/outbox.hpp>

#include "tests/kernel/requests.hpp"

namespace px::kernel {
namespace {

using namespace std::chrono_literals;

std::string text(const std::vector<Mail>& mail) {
  std::string lines;
  for (const Mail& each : mail) {
    const auto* message = std::get_if<Outgoing>(&each);
    if (!message) {
      lines += "effects\n";
      continue;
    }
    const std::string parent = message->request ? message->request->header.msg_id.text : "nobody";
    lines += message->type + " for " + parent + " " + message->content + "\n";
  }
  return lines;
}

class OutboxTest : public testing::Test {
 protected:
  std::string taken() { return text(outbox.take(Instant::max())); }
  Loop loop;
  Outbox outbox{loop.waker()};
};

TEST_F(OutboxTest, OutputKeepsItsOrderAndComesBeforeTheReply) {
  const RequestPtr cell = request("execute_request", "cell");
  outbox.set_request(cell);
  outbox.write("stdout", "one ");
  outbox.write("stdout", "line");
  outbox.publish("display_data", "{}", "", {});
  outbox.write("stderr", "oh");
  outbox.reply(cell, "{}");
  EXPECT_EQ(taken(),
            "stream for cell {\"name\":\"stdout\",\"text\":\"one line\"}\n"
            "display_data for cell {}\n"
            "stream for cell {\"name\":\"stderr\",\"text\":\"oh\"}\n"
            "execute_reply for cell {}\n");
}

TEST_F(OutboxTest, WhatAnOlderCellsThreadPrintsBelongsToThatCell) {
  const RequestPtr old_cell = request("execute_request", "old");
  outbox.set_request(request("execute_request", "new"));
  outbox.write("stdout", "a");
  outbox.write("stdout", "b", old_cell);
  outbox.publish("display_data", "{}", "", {}, old_cell);
  EXPECT_EQ(taken(),
            "stream for new {\"name\":\"stdout\",\"text\":\"a\"}\n"
            "stream for old {\"name\":\"stdout\",\"text\":\"b\"}\n"
            "display_data for old {}\n");
}

TEST_F(OutboxTest, WhatChildProcessesPrintedComesBeforeWhatFollowsIt) {
  int captures = 0;
  outbox.set_request(request("execute_request", "cell"));
  outbox.set_capture([&](bool is_last) {
    ++captures;
    if (is_last) outbox.add_captured("stdout", "child ");
  });
  outbox.write("stdout", "before ");
  outbox.publish_status(outbox.request(), "idle");
  EXPECT_EQ(captures, 2);
  EXPECT_EQ(taken(),
            "stream for cell {\"name\":\"stdout\",\"text\":\"before child \"}\n"
            "status for cell {\"execution_state\": \"idle\"}\n");
}

TEST_F(OutboxTest, TextGathersForAMoment) {
  outbox.write("stdout", "a");
  const auto due = outbox.next_deadline();
  ASSERT_TRUE(due);
  EXPECT_EQ(text(outbox.take(*due - 1ms)), "");
  EXPECT_EQ(text(outbox.take(*due)), "stream for nobody {\"name\":\"stdout\",\"text\":\"a\"}\n");
}

TEST_F(OutboxTest, WhoPrintsMoreThanIsReadWaitsUntilItIsSent) {
  const std::string megabyte(1 << 20, 'x');
  std::size_t bytes = 0;
  while (!outbox.is_full()) outbox.publish("display_data", megabyte, "", {});
  EXPECT_FALSE(outbox.wait_for_room(0ms));
  for (const Mail& each : outbox.take(Instant::max())) bytes += std::get<Outgoing>(each).bytes();
  EXPECT_GE(bytes, Outbox::max_bytes);
  EXPECT_TRUE(outbox.is_full());  // taken is not sent
  std::thread sender{[&] { outbox.sent(bytes); }};
  EXPECT_TRUE(outbox.wait_for_room(10s));
  sender.join();
}

TEST(InputDesk, OnlyAnAnswerToTheLastQuestionCounts) {
  InputDesk desk;
  desk.put("nobody asked");
  EXPECT_FALSE(desk.wait(0ms));
  desk.expect();
  desk.put("old");
  desk.expect();
  EXPECT_FALSE(desk.wait(0ms));
  std::thread user{[&] { desk.put("yes"); }};
  EXPECT_EQ(desk.wait(10s), "yes");
  user.join();
  EXPECT_FALSE(desk.wait(0ms));
}

TEST(InputDesk, AskingIsAllowedByEachRequestAnew) {
  InputDesk desk;
  EXPECT_FALSE(desk.is_allowed());
  desk.set_allowed(true);
  EXPECT_TRUE(desk.is_allowed());
}

}  // namespace
}  // namespace px::kernel
