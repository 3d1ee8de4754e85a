#include "net/turn_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <utility>

namespace px::net {
namespace {

using namespace std::chrono_literals;

/// A loop whose keeper counts its turns.
class TurnGateTest : public ::testing::Test {
 protected:
  ~TurnGateTest() override { end(); }

  Loop loop;
  TurnGate gate{loop.waker()};
  std::atomic<int> turns_of_keeper = 0, turns_of_guest = 0;
  std::atomic<bool> is_in_turn = false, has_met = false, is_finished = false;
  std::thread keeper{[this] {
    while (!is_finished) {
      gate.begin_turn();
      turn(turns_of_keeper);
      gate.end_turn();
    }
  }};

  void turn(std::atomic<int>& count) {
    if (is_in_turn.exchange(true)) has_met = true;
    ++count;
    loop.wait_until(std::nullopt);
    is_in_turn = false;
  }
  /// A guest that is not woken by anybody else.
  bool serve(int turns) {
    int left = turns;
    return gate.serve([&] { return left == 0; },
                      [&] {
                        --left;
                        loop.waker().wake();
                        turn(turns_of_guest);
                      });
  }
  void wait_for_keeper() {
    const int before = turns_of_keeper;
    for (const Instant deadline = Clock::now() + 10s;
         turns_of_keeper == before && Clock::now() < deadline;)
      loop.waker().wake();
    EXPECT_GT(turns_of_keeper, before);
  }
  void end() {
    if (!keeper.joinable()) return;
    is_finished = true;
    gate.close();
    keeper.join();
  }
};

TEST_F(TurnGateTest, AGuestTakesTheTurnsInThePlaceOfTheKeeper) {
  wait_for_keeper();
  EXPECT_TRUE(serve(100));
  EXPECT_EQ(turns_of_guest, 100);
  EXPECT_FALSE(has_met);
}

TEST_F(TurnGateTest, TheKeeperGoesOnWhenNoGuestComesBack) {
  EXPECT_TRUE(serve(1));
  wait_for_keeper();
}

TEST_F(TurnGateTest, GuestsAndKeeperNeverMeet) {
  for (int i = 0; i < 300; ++i) {
    EXPECT_TRUE(serve(i % 3));
    if (i % 50 == 0) wait_for_keeper();
  }
  EXPECT_FALSE(has_met);
}

TEST_F(TurnGateTest, ThereIsOneGuestAtATime) {
  std::promise<void> is_in, may_go;
  std::thread guest{[&] {
    bool has_been = false;
    gate.serve([&] { return has_been; },
               [&] {
                 has_been = true;
                 is_in.set_value();
                 may_go.get_future().wait();
               });
  }};
  is_in.get_future().wait();
  EXPECT_FALSE(serve(1));
  may_go.set_value();
  guest.join();
  EXPECT_EQ(turns_of_guest, 0);
}

TEST_F(TurnGateTest, NobodyIsLetInAfterTheEnd) {
  std::promise<void> is_in;
  bool has_been = false;
  std::thread guest{[&] {
    gate.serve([] { return false; },
               [&] {
                 if (!std::exchange(has_been, true)) is_in.set_value();
                 turn(turns_of_guest);
               });
  }};
  is_in.get_future().wait();
  end();  // the guest leaves, though it has nothing of what it waits for
  guest.join();
  EXPECT_FALSE(serve(1));
  EXPECT_FALSE(has_met);
}

}  // namespace
}  // namespace px::net
