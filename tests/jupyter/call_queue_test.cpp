#include <gtest/gtest.h>

#include <thread>

#include "jupyter/call_queue.hpp"

namespace px::jupyter {
namespace {

/// This thread is the owner; another one calls.
class CallQueueTest : public ::testing::Test {
 protected:
  CallQueueTest() {
    loop_.on_wake([this] { calls_.run(); });
  }

  net::Loop loop_;
  CallQueue calls_{loop_.waker()};
};

TEST_F(CallQueueTest, AFunctionRunsOnTheOwnersThreadBeforeItsCallerGoesOn) {
  std::thread::id where;
  bool is_done = false;
  std::thread caller{[&] {
    is_done = calls_.call([&] { where = std::this_thread::get_id(); });
    EXPECT_NE(where, std::thread::id());
  }};
  while (where == std::thread::id()) loop_.wait_until(std::nullopt);
  caller.join();
  EXPECT_TRUE(is_done);
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST_F(CallQueueTest, NobodyWaitsForAnOwnerThatHasEnded) {
  bool has_run = false, is_woken = false;
  loop_.on_wake([&] { is_woken = true; });
  std::thread early{[&] { EXPECT_FALSE(calls_.call([&] { has_run = true; })); }};
  while (!is_woken) loop_.wait_until(std::nullopt);  // it waits now
  calls_.close();
  early.join();
  EXPECT_FALSE(calls_.call([&] { has_run = true; }));
  EXPECT_FALSE(has_run);
}

}  // namespace
}  // namespace px::jupyter
