#include "os/process_mark.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <thread>

#include "tests/os/in_child.hpp"

namespace px::os {
namespace {

TEST(ProcessMark, IsHereInTheProcessThatMadeItAndNotInItsChildren) {
  const ProcessMark mark;
  EXPECT_TRUE(mark.is_here());
  EXPECT_TRUE(in_child([&] { return !mark.is_here() && ProcessMark{}.is_here(); }));
  EXPECT_TRUE(in_child([&] { return in_child([&] { return !mark.is_here(); }); }));
  EXPECT_TRUE(mark.is_here());
}

TEST(Condition, AChildLetsGoOfOneThatAThreadOfItsParentWaitsFor) {
  auto condition = std::make_unique<Condition>();
  std::mutex mutex;
  bool is_over = false, is_waiting = false;
  std::thread waiting{[&] {
    std::unique_lock lock{mutex};
    is_waiting = true;
    (*condition)->notify_all();
    (*condition)->wait(lock, [&] { return is_over; });
  }};
  {
    std::unique_lock lock{mutex};
    (*condition)->wait(lock, [&] { return is_waiting; });
  }
  EXPECT_TRUE(in_child([&] {
    condition.reset();
    return true;
  }));
  {
    const std::lock_guard lock{mutex};
    is_over = true;
  }
  (*condition)->notify_all();
  waiting.join();
}

}  // namespace
}  // namespace px::os
