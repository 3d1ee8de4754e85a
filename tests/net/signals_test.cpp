// What libzmq and the system are asked is asked again where a signal with a handler interrupts it.

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "net/connection_monitor.hpp"
#include "net/readiness.hpp"
#include "net/socket.hpp"
#include "tests/net/messages.hpp"

namespace px::net {
namespace {

/// This process gets a signal with a handler 5,000 times a second, or as often as it can take it.
class ManySignals {
 public:
  ManySignals() {
    struct sigaction action {};
    action.sa_handler = [](int) { came = came + 1; };
    ::sigaction(SIGUSR2, &action, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR2;
    ::timer_create(CLOCK_MONOTONIC, &event, &timer_);
    const itimerspec often{{0, 200'000}, {0, 200'000}};
    ::timer_settime(timer_, 0, &often, nullptr);
  }
  ~ManySignals() {
    ::timer_delete(timer_);
    ::signal(SIGUSR2, SIG_IGN);
  }
  ManySignals(ManySignals&&) = delete;
  static inline volatile sig_atomic_t came = 0;

 private:
  timer_t timer_{};
};

TEST(Signals, InterruptNoQuestionAndLoseNoMessage) {
  constexpr int rounds = 20'000;
  Context context;
  Socket router{context, SocketKind::router};
  Socket dealer{context, SocketKind::dealer, {.identity = "ann"}};
  const Result<int> port = router.bind("tcp://127.0.0.1", 0);
  ASSERT_TRUE(port);
  ASSERT_TRUE(dealer.connect("tcp://127.0.0.1:" + std::to_string(*port)));
  const ManySignals signals;
  const int before = ManySignals::came;
  int sent = 0, received = 0;
  for (int round = 0; round < rounds || ManySignals::came < before + 100; ++round) {
    const std::string text = std::to_string(sent);
    sent += dealer.send({"head", text}) ? 1 : 0;
    router.readiness().is_readable();
    while (const SharedFrames frames = router.receive())
      EXPECT_EQ(texts(frames), (Texts{"ann", "head", std::to_string(received++)}));
  }
  while (received < sent)
    ASSERT_EQ(texts(await(router)), (Texts{"ann", "head", std::to_string(received++)}));
}

TEST(Signals, InterruptNoSocketThatIsMade) {
  const ManySignals signals;
  const int before = ManySignals::came;
  for (int round = 0; round < 50 || ManySignals::came < before + 50; ++round) {
    Context context;
    Socket router{context, SocketKind::router};
    Socket dealer{context, SocketKind::dealer};
    const ConnectionMonitor monitor{context, dealer};
    const Result<int> port = router.bind("tcp://127.0.0.1", 0);
    ASSERT_TRUE(port) << port.error().what;
    const auto connecting = dealer.connect("tcp://127.0.0.1:" + std::to_string(*port));
    ASSERT_TRUE(connecting) << connecting.error().what;
    ASSERT_TRUE(dealer.send({"text"}));
    ASSERT_EQ(texts(await(router)).back(), "text");
  }
}

}  // namespace
}  // namespace px::net
