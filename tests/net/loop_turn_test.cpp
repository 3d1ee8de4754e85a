#include "net/loop_turn.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace px::net {
namespace {

using namespace std::chrono_literals;

/// A turn that the I/O thread has passed to the guest.
void pass_to_guest(LoopTurn& turn) {
  ASSERT_FALSE(turn.take());
  turn.ask();
  ASSERT_TRUE(turn.pass());
}

TEST(LoopTurn, TheIoThreadHasItAndKeepsItWhileNobodyAsks) {
  LoopTurn turn{1h};
  turn.await();
  EXPECT_FALSE(turn.pass());
  EXPECT_FALSE(turn.take());
  turn.leave(true);
  turn.await();
}

TEST(LoopTurn, AGuestThatAsksGetsItWhenTheIoThreadPassesIt) {
  LoopTurn turn{1h};
  pass_to_guest(turn);
  EXPECT_TRUE(turn.take());
  EXPECT_FALSE(turn.pass());
}

TEST(LoopTurn, AGuestThatNoLongerWaitsGetsNothing) {
  LoopTurn turn{1h};
  ASSERT_FALSE(turn.take());
  turn.ask();
  turn.leave(true);
  EXPECT_FALSE(turn.pass());
  EXPECT_FALSE(turn.take());
}

TEST(LoopTurn, AGuestThatIsBackSoonTakesItAgain) {
  LoopTurn turn{1h};
  pass_to_guest(turn);
  turn.leave(true);
  EXPECT_TRUE(turn.take());
}

TEST(LoopTurn, TheIoThreadRelievesAGuestThatIsAwayForLonger) {
  LoopTurn turn{1ms};
  pass_to_guest(turn);
  turn.leave(true);
  turn.await();
  EXPECT_FALSE(turn.take());
}

TEST(LoopTurn, TheIoThreadRelievesAGuestAtOnceThatIsNotBackSoon) {
  LoopTurn turn{1h};
  pass_to_guest(turn);
  turn.leave(false);
  turn.await();
  EXPECT_FALSE(turn.take());
}

TEST(LoopTurn, AGuestThatIsBackIsNotRelieved) {
  LoopTurn turn{1ns};  // it would be relieved at once
  pass_to_guest(turn);
  for (int round = 0; round < 100; ++round) {
    turn.leave(true);
    ASSERT_TRUE(turn.take());
    std::atomic<bool> is_about_to_wait = false, has_left = false;
    std::thread io_thread{[&] {
      is_about_to_wait = true;
      turn.await();
      EXPECT_TRUE(has_left);
    }};
    while (!is_about_to_wait) std::this_thread::yield();
    has_left = true;
    turn.leave(false);
    io_thread.join();
    pass_to_guest(turn);
  }
}

}  // namespace
}  // namespace px::net
