#include "client/requests/shared_io_work.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace px::client {
namespace {

using namespace std::chrono_literals;

/// An I/O thread whose work is to note which thread does it.
class SharedIoWorkTest : public testing::Test {
 protected:
  ~SharedIoWorkTest() override {
    help->end();
    io_thread.join();
  }

  void work() {
    const std::lock_guard lock{mutex_};
    last_ = std::this_thread::get_id();
    was_helping_ = help->is_helping();
  }
  /// Which thread did the last step.
  std::thread::id last() const {
    const std::lock_guard lock{mutex_};
    return last_;
  }
  bool was_helping() const {
    const std::lock_guard lock{mutex_};
    return was_helping_;
  }
  bool is_done_here() const { return last() == std::this_thread::get_id(); }
  /// Wakes who waits at the loop until a thread that `is_meant` has done a step.
  template <class Meant>
  void wake_until(Meant is_meant) {
    while (!is_meant(last())) {
      loop.waker().wake();
      std::this_thread::sleep_for(1ms);
    }
  }

  net::Loop loop;
  std::shared_ptr<SharedIoWork> help = std::make_shared<SharedIoWork>(
      loop, SharedIoWork::Steps{[this] {
                                  loop.wait_until(net::Loop::at_once);
                                  work();
                                },
                                [] { return std::optional<Instant>(); }, [] { return false; }});
  std::thread io_thread{[this] {
    while (help->await()) {
      loop.wait_until(std::nullopt);
      work();
      help->pass();
    }
  }};

 private:
  mutable std::mutex mutex_;
  std::thread::id last_;
  bool was_helping_ = false;
};

TEST_F(SharedIoWorkTest, AThreadThatWaitsDoesTheWork) {
  const SharedIoWork::WaitingThread waiting{help};
  EXPECT_TRUE(help->help_until(std::nullopt, [&] { return is_done_here(); }));
  EXPECT_TRUE(was_helping());
  EXPECT_FALSE(help->is_helping());
}

TEST_F(SharedIoWorkTest, WhatComesWakesIt) {
  const SharedIoWork::WaitingThread waiting{help};
  int steps_here = 0;
  EXPECT_TRUE(help->help_until(std::nullopt, [&] {
    if (is_done_here()) ++steps_here;
    std::thread([waker = loop.waker()] { waker.wake(); }).detach();
    return steps_here == 5;
  }));
}

TEST_F(SharedIoWorkTest, TheIoThreadGoesOnWhenNobodyWaits) {
  {
    const SharedIoWork::WaitingThread waiting{help};
    ASSERT_TRUE(help->help_until(std::nullopt, [&] { return is_done_here(); }));
  }
  wake_until([&](std::thread::id id) { return id == io_thread.get_id(); });
}

TEST_F(SharedIoWorkTest, NobodyHelpsAfterADeadline) {
  const SharedIoWork::WaitingThread waiting{help};
  EXPECT_FALSE(help->help_until(Instant{}, [] { return true; }));
  EXPECT_FALSE(help->help_until(Clock::now() + 1ms, [] { return false; }));
}

TEST_F(SharedIoWorkTest, OneThreadHelpsAtATime) {
  bool is_over = false;
  const SharedIoWork::WaitingThread waiting{help};
  EXPECT_TRUE(help->help_until(std::nullopt, [&] {
    if (!is_done_here()) return false;
    std::thread([&] {
      const SharedIoWork::WaitingThread second{help};
      EXPECT_FALSE(help->help_until(std::nullopt, [] { return true; }));
      is_over = true;
    }).join();
    return is_over;
  }));
}

TEST_F(SharedIoWorkTest, WhoHelpsIsSentAwayAtTheEnd) {
  std::thread helper{[this] {
    const SharedIoWork::WaitingThread waiting{help};
    EXPECT_FALSE(help->help_until(std::nullopt, [] { return false; }));
  }};
  wake_until([&](std::thread::id id) { return id == helper.get_id(); });
  help->end();
  helper.join();
}

TEST_F(SharedIoWorkTest, NobodyHelpsAfterTheEnd) {
  help->end();
  const SharedIoWork::WaitingThread waiting{help};
  EXPECT_FALSE(help->help_until(std::nullopt, [] { return true; }));
}

}  // namespace
}  // namespace px::client
