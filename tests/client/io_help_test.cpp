#include "client/requests/io_help.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace px::client {
namespace {

using namespace std::chrono_literals;

/// An I/O thread whose work is to note which thread does it.
class IoHelpTest : public testing::Test {
 protected:
  ~IoHelpTest() override {
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
  std::shared_ptr<IoHelp> help = std::make_shared<IoHelp>(
      loop, IoHelp::Work{[this] {
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

TEST_F(IoHelpTest, AThreadThatWaitsDoesTheWork) {
  const IoHelp::Waiting waiting{help};
  EXPECT_TRUE(help->help_until(std::nullopt, [&] { return is_done_here(); }));
  EXPECT_TRUE(was_helping());
  EXPECT_FALSE(help->is_helping());
}

TEST_F(IoHelpTest, WhatComesWakesIt) {
  const IoHelp::Waiting waiting{help};
  int steps_here = 0;
  EXPECT_TRUE(help->help_until(std::nullopt, [&] {
    if (is_done_here()) ++steps_here;
    std::thread([waker = loop.waker()] { waker.wake(); }).detach();
    return steps_here == 5;
  }));
}

TEST_F(IoHelpTest, TheIoThreadGoesOnWhenNobodyWaits) {
  {
    const IoHelp::Waiting waiting{help};
    ASSERT_TRUE(help->help_until(std::nullopt, [&] { return is_done_here(); }));
  }
  wake_until([&](std::thread::id id) { return id == io_thread.get_id(); });
}

TEST_F(IoHelpTest, NobodyHelpsAfterADeadline) {
  const IoHelp::Waiting waiting{help};
  EXPECT_FALSE(help->help_until(Instant{}, [] { return true; }));
  EXPECT_FALSE(help->help_until(Clock::now() + 1ms, [] { return false; }));
}

TEST_F(IoHelpTest, OneThreadHelpsAtATime) {
  bool is_over = false;
  const IoHelp::Waiting waiting{help};
  EXPECT_TRUE(help->help_until(std::nullopt, [&] {
    if (!is_done_here()) return false;
    std::thread([&] {
      const IoHelp::Waiting second{help};
      EXPECT_FALSE(help->help_until(std::nullopt, [] { return true; }));
      is_over = true;
    }).join();
    return is_over;
  }));
}

TEST_F(IoHelpTest, WhoHelpsIsSentAwayAtTheEnd) {
  std::thread helper{[this] {
    const IoHelp::Waiting waiting{help};
    EXPECT_FALSE(help->help_until(std::nullopt, [] { return false; }));
  }};
  wake_until([&](std::thread::id id) { return id == helper.get_id(); });
  help->end();
  helper.join();
}

TEST_F(IoHelpTest, NobodyHelpsAfterTheEnd) {
  help->end();
  const IoHelp::Waiting waiting{help};
  EXPECT_FALSE(help->help_until(std::nullopt, [] { return true; }));
}

}  // namespace
}  // namespace px::client
