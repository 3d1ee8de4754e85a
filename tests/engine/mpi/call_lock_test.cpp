#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/mpi/call_lock.hpp"

namespace px::engine {
namespace {

TEST(CallLock, IsHeldOnceByAThreadThatTakesItTwice) {
  CallLock lock;
  EXPECT_FALSE(lock.is_held());
  {
    const CallLock::Holding outer{lock};
    const CallLock::Holding inner{lock};
    EXPECT_TRUE(lock.is_held());
    {
      const CallLock::Released released{lock};
      EXPECT_FALSE(lock.is_held());
      const CallLock::Holding again{lock};
      EXPECT_TRUE(lock.is_held());
    }
    EXPECT_TRUE(lock.is_held());
  }
  EXPECT_FALSE(lock.is_held());
}

TEST(CallLock, KeepsThreadsApart) {
  CallLock lock;
  int count = 0;  // of nothing else than the lock
  constexpr int rounds = 20'000;
  const auto add = [&] {
    for (int round = 0; round < rounds; ++round) {
      const CallLock::Holding alone{lock};
      ++count;
    }
  };
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) others.emplace_back(add);
  add();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(count, 4 * rounds);
}

TEST(CallLock, TheMainThreadLetsOthersInWhileItWaits) {
  CallLock lock;
  bool has_come = false;
  const CallLock::Holding alone{lock};
  std::thread other([&] {
    const CallLock::Holding of_other{lock};
    has_come = true;
  });
  while (!has_come) lock.let_others();
  EXPECT_TRUE(lock.is_held());
  {
    const CallLock::Released released{lock};
    other.join();
  }
  EXPECT_TRUE(lock.is_held());
}

TEST(CallLock, AnotherThreadLetsTheMainThreadInWhileItWaits) {
  CallLock lock;
  bool has_come = false, is_in = false;
  std::thread other([&] {
    const CallLock::Holding of_other{lock};
    is_in = true;
    while (!has_come) lock.let_others();
  });
  for (bool is_done = false; !is_done;) {
    const CallLock::Holding alone{lock};
    has_come = is_done = is_in;
  }
  other.join();
}

TEST(CallLock, IsFreeAfterAJumpOutOfACall) {
  CallLock lock;
  lock.take();
  lock.reset();
  EXPECT_FALSE(lock.is_held());
  std::thread([&] { const CallLock::Holding of_other{lock}; }).join();
  lock.take();
  lock.reset();
  std::thread([&] { const CallLock::Holding of_other{lock}; }).join();
}

}  // namespace
}  // namespace px::engine
