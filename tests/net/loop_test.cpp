#include "net/loop.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "os/descriptor.hpp"

namespace px::net {
namespace {

using namespace std::chrono_literals;

/// Far enough that a test which gets there has failed.
Instant soon() {
  return Clock::now() + 60s;
}

/// A descriptor that is readable once add() was called.
class Bell {
 public:
  int descriptor() const { return descriptor_.value(); }
  void ring() const {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(descriptor(), &one, sizeof one), 8);
  }
  void take() const {
    std::uint64_t count = 0;
    EXPECT_EQ(::read(descriptor(), &count, sizeof count), 8);
  }

 private:
  os::Descriptor descriptor_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

TEST(Loop, SleepsUntilItsDeadline) {
  Loop loop;
  const Instant deadline = Clock::now() + 20ms;
  loop.wait_until(deadline);
  EXPECT_GE(Clock::now(), deadline);
}

TEST(Loop, DoesNotSleepWhereItsDeadlineHasPassed) {
  Loop loop;
  loop.wait_until(Clock::now() - 1h);
}

TEST(Loop, RunsTheHandlerOfWhatIsReadable) {
  Loop loop;
  Bell first, second;
  int first_count = 0, second_count = 0;
  loop.watch(first.descriptor(), [&] { first.take(), ++first_count; });
  loop.watch(second.descriptor(), [&] { second.take(), ++second_count; });
  second.ring();
  loop.wait_until(soon());
  EXPECT_EQ(first_count, 0);
  EXPECT_EQ(second_count, 1);
}

TEST(Loop, ReportsAgainWhatAHandlerLeft) {
  Loop loop;
  Bell bell;
  int count = 0;
  loop.watch(bell.descriptor(), [&] {
    if (++count == 3) bell.take();
  });
  bell.ring();
  for (int i = 0; i < 3; ++i) loop.wait_until(soon());
  EXPECT_EQ(count, 3);
  loop.wait_until(Clock::now());
  EXPECT_EQ(count, 3);
}

/// What the dealer sends, the router receives.
struct ConnectedPair {
  ConnectedPair() {
    EXPECT_TRUE(
        dealer.connect("tcp://127.0.0.1:" + std::to_string(*router.bind("tcp://127.0.0.1", 0))));
  }
  Context context;
  Socket router{context, SocketKind::router};
  Socket dealer{context, SocketKind::dealer};
};

TEST(Loop, ReportsASocketUntilItIsEmpty) {
  ConnectedPair pair;
  for (int i = 0; i < 10; ++i) pair.dealer.send({"text"});
  Loop loop;
  int count = 0;
  loop.watch(pair.router, [&] { count += pair.router.receive() != nullptr; });
  for (const Instant deadline = soon(); count < 10 && Clock::now() < deadline;)
    loop.wait_until(deadline);
  EXPECT_EQ(count, 10);
}

/// Whether the loop would not sleep.
bool has_work(Loop& loop) {
  pollfd item{loop.descriptor(), POLLIN, 0};
  return loop.is_ready() || ::poll(&item, 1, 0) == 1;
}

TEST(Loop, TellsWhetherItHasWorkAlsoOfASocketThatIsNotEmpty) {
  ConnectedPair pair;
  Loop loop;
  int count = 0;
  loop.watch(pair.router, [&] { count += pair.router.receive() ? 1 : 0; });
  EXPECT_FALSE(has_work(loop));
  pair.dealer.send({"one"});
  pair.dealer.send({"two"});
  for (const Instant deadline = soon(); count < 1 && Clock::now() < deadline;)
    loop.wait_until(deadline);
  // The second message may arrive later than the first.
  for (const Instant deadline = soon(); !has_work(loop) && Clock::now() < deadline;)
    std::this_thread::yield();
  EXPECT_TRUE(has_work(loop));
  for (const Instant deadline = soon(); count < 2 && Clock::now() < deadline;)
    loop.wait_until(deadline);
  while (has_work(loop)) loop.wait_until(soon());
  EXPECT_EQ(count, 2);
  loop.waker().wake();
  EXPECT_TRUE(has_work(loop));
}

TEST(Loop, IsWokenFromAnotherThread) {
  Loop loop;
  bool is_woken = false;
  loop.on_wake([&] { is_woken = true; });
  std::thread other{[waker = loop.waker()] { waker.wake(); }};
  for (const Instant deadline = soon(); !is_woken && Clock::now() < deadline;)
    loop.wait_until(deadline);
  other.join();
  EXPECT_TRUE(is_woken);
}

TEST(Loop, WokenManyTimesBeforeItWaitsItWakesOnce) {
  Loop loop;
  int count = 0;
  loop.on_wake([&] { ++count; });
  for (int i = 0; i < 1000; ++i) loop.waker().wake();
  loop.wait_until(soon());
  loop.wait_until(Clock::now());
  EXPECT_EQ(count, 1);
}

TEST(Loop, IsWokenFromASignalHandler) {
  static Waker waker;
  Loop loop;
  waker = loop.waker();
  bool is_woken = false;
  loop.on_wake([&] { is_woken = true; });
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) { waker.wake(); };
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  ::raise(SIGUSR1);
  loop.wait_until(soon());
  ::sigaction(SIGUSR1, &before, nullptr);
  waker = {};
  EXPECT_TRUE(is_woken);
}

TEST(Loop, AWakerMayOutliveItsLoop) {
  Waker waker;
  waker.wake();
  {
    Loop loop;
    waker = loop.waker();
  }
  waker.wake();
}

TEST(Loop, DoesNotRunWhatWasForgotten) {
  Loop loop;
  Bell bell;
  int count = 0;
  loop.watch(bell.descriptor(), [&] { ++count; });
  bell.ring();
  loop.forget(bell.descriptor());
  loop.wait_until(Clock::now());
  EXPECT_EQ(count, 0);
}

TEST(Loop, AHandlerMayForgetAnotherThatIsReady) {
  Loop loop;
  Bell first, second;
  int count = 0;
  loop.watch(first.descriptor(), [&] { ++count, loop.forget(second.descriptor()), first.take(); });
  loop.watch(second.descriptor(), [&] { ++count, loop.forget(first.descriptor()), second.take(); });
  first.ring();
  second.ring();
  loop.wait_until(soon());
  loop.wait_until(Clock::now());
  EXPECT_EQ(count, 1);
}

TEST(Loop, AHandlerMayForgetItself) {
  Loop loop;
  Bell bell;
  int count = 0;
  loop.watch(bell.descriptor(), [&, big = std::vector<int>(1000)] {
    loop.forget(bell.descriptor());
    count += static_cast<int>(big.size());
  });
  bell.ring();
  loop.wait_until(soon());
  loop.wait_until(Clock::now());
  EXPECT_EQ(count, 1000);
}

TEST(Loop, AHandlerMayWatchMore) {
  Loop loop;
  Bell first, second;
  second.ring();
  int count = 0;
  loop.on_wake([&] { loop.watch(second.descriptor(), [&] { second.take(), ++count; }); });
  loop.watch(first.descriptor(), [&] { first.take(); });
  loop.waker().wake();
  loop.wait_until(soon());
  EXPECT_EQ(count, 0);
  loop.wait_until(soon());
  EXPECT_EQ(count, 1);
}

TEST(Loop, TellsOfAPipeThatHungUp) {
  Loop loop;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  bool is_told = false;
  loop.watch(ends[0], [&] { is_told = true; });
  ::close(ends[1]);
  loop.wait_until(soon());
  EXPECT_TRUE(is_told);
  ::close(ends[0]);
}

}  // namespace
}  // namespace px::net
