#include "controller/membership/heartbeat_monitor.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

const EngineUuid ann{"ann"};
Instant at(Duration since_start) {
  return Instant{} + since_start;
}

HeartbeatMonitor monitor(int max_misses = 10) {
  return {{1s, max_misses, 5ms}, at(0s)};
}

TEST(HeartbeatMonitor, ItPingsAtOnceAndThenOnceAPeriod) {
  HeartbeatMonitor hearts = monitor();
  EXPECT_TRUE(hearts.on_time(at(0s)).ping);
  EXPECT_EQ(hearts.next_deadline(), at(1s));
  EXPECT_FALSE(hearts.on_time(at(999ms)).ping);
  EXPECT_TRUE(hearts.on_time(at(1s)).ping);
}

TEST(HeartbeatMonitor, TwoPingsNeverReadTheSame) {
  HeartbeatMonitor hearts = monitor();
  EXPECT_NE(hearts.on_time(at(0s)).ping, hearts.on_time(at(1s)).ping);
}

TEST(HeartbeatMonitor, TheLastTwoPingsCountAndNoOthers) {
  HeartbeatMonitor hearts = monitor();
  const auto first = *hearts.on_time(at(0s)).ping;
  EXPECT_TRUE(hearts.heard("ann", first));
  const auto second = *hearts.on_time(at(1s)).ping;
  EXPECT_TRUE(hearts.heard("ann", second));
  EXPECT_TRUE(hearts.heard("ann", first));
  hearts.on_time(at(2s));
  EXPECT_FALSE(hearts.heard("ann", first));
  EXPECT_FALSE(hearts.heard("ann", "hello"));
  EXPECT_FALSE(hearts.heard("ann", ""));
}

TEST(HeartbeatMonitor, AnEngineThatMissesMoreBeatsThanAllowedIsDead) {
  HeartbeatMonitor hearts = monitor(2);
  hearts.watch(ann);
  for (const auto time : {0s, 1s, 2s}) EXPECT_TRUE(hearts.on_time(at(time)).dead.empty());
  EXPECT_EQ(hearts.on_time(at(3s)).dead, std::vector{ann});
  EXPECT_TRUE(hearts.on_time(at(4s)).dead.empty());
}

TEST(HeartbeatMonitor, TheMoreEnginesAnswerAPingTheLongerNewcomersAreGathered) {
  HeartbeatMonitor hearts = monitor();
  hearts.on_time(at(0s));
  for (int i = 0; i < 40; ++i) hearts.watch(EngineUuid{std::to_string(i)});
  hearts.engine_added(at(100ms));
  EXPECT_EQ(hearts.next_deadline(), at(115ms));
}

TEST(HeartbeatMonitor, AnEngineThatMissesTwoBeatsIsSilentAndSaidToBeSoOnce) {
  HeartbeatMonitor hearts = monitor(5);
  hearts.watch(ann);
  for (const auto time : {0s, 1s}) EXPECT_TRUE(hearts.on_time(at(time)).silent.empty());
  EXPECT_FALSE(hearts.is_silent("ann"));
  EXPECT_EQ(hearts.on_time(at(2s)).silent, std::vector{ann});
  EXPECT_TRUE(hearts.is_silent("ann"));
  EXPECT_EQ(hearts.silence_of("ann"), 2s);
  EXPECT_TRUE(hearts.on_time(at(3s)).silent.empty());
  EXPECT_EQ(hearts.silence_of("ann"), 3s);
}

TEST(HeartbeatMonitor, ASilentEngineThatIsHeardAgainIsAsItWas) {
  HeartbeatMonitor hearts = monitor(3);
  hearts.watch(ann);
  for (const auto time : {0s, 1s, 2s}) EXPECT_TRUE(hearts.on_time(at(time)).dead.empty());
  EXPECT_TRUE(hearts.heard("ann", *hearts.on_time(at(3s)).ping));
  EXPECT_FALSE(hearts.is_silent("ann"));
  EXPECT_EQ(hearts.silence_of("ann"), 0s);
  for (const auto time : {4s, 5s, 6s}) EXPECT_TRUE(hearts.on_time(at(time)).dead.empty());
}

TEST(HeartbeatMonitor, AnyAnswerResetsTheCount) {
  HeartbeatMonitor hearts = monitor(1);
  hearts.watch(ann);
  for (int second = 0; second < 20; ++second) {
    const auto beat = hearts.on_time(at(1s * second));
    EXPECT_TRUE(beat.dead.empty());
    if (second % 2 == 0) hearts.heard("ann", *beat.ping);
  }
}

TEST(HeartbeatMonitor, AnEngineWhoseAnswersAreLateIsSilentButNotDead) {
  HeartbeatMonitor hearts = monitor(5);
  hearts.watch(ann);
  std::vector<std::string> pings;
  for (int second = 0; second < 40; ++second) {
    const auto beat = hearts.on_time(at(1s * second));
    EXPECT_TRUE(beat.dead.empty()) << second;
    pings.push_back(*beat.ping);
    if (second < 4) continue;
    EXPECT_FALSE(hearts.heard("ann", pings.at(pings.size() - 5)));
    EXPECT_TRUE(hearts.is_silent("ann"));
  }
  EXPECT_TRUE(hearts.heard("ann", pings.back()));
  EXPECT_FALSE(hearts.is_silent("ann"));
}

TEST(HeartbeatMonitor, AnOldAnswerThatIsRepeatedKeepsNobodyAlive) {
  HeartbeatMonitor hearts = monitor(3);
  hearts.watch(ann);
  const std::string first = *hearts.on_time(at(0s)).ping;
  std::vector<EngineUuid> dead;
  for (int second = 1; second <= 6; ++second) {
    EXPECT_TRUE(dead.empty()) << second;
    dead = hearts.on_time(at(1s * second)).dead;
    hearts.heard("ann", first);
  }
  EXPECT_EQ(dead, std::vector{ann});
}

TEST(HeartbeatMonitor, AForgottenEngineIsNotDeclaredDead) {
  HeartbeatMonitor hearts = monitor(0);
  hearts.watch(ann);
  hearts.forget(ann);
  hearts.on_time(at(0s));
  EXPECT_TRUE(hearts.on_time(at(1s)).dead.empty());
}

TEST(HeartbeatMonitor, ANewcomerIsPingedSoonWithThePresentPing) {
  HeartbeatMonitor hearts = monitor();
  const auto ping = hearts.on_time(at(0s)).ping;
  hearts.engine_added(at(100ms));
  hearts.engine_added(at(103ms));
  EXPECT_EQ(hearts.next_deadline(), at(105ms));
  EXPECT_EQ(hearts.on_time(at(105ms)).ping, ping);
  EXPECT_FALSE(hearts.on_time(at(108ms)).ping);
  EXPECT_EQ(hearts.next_deadline(), at(1s));
}

TEST(HeartbeatMonitor, AfterALongSleepNobodyIsDeadAtOnce) {
  HeartbeatMonitor hearts = monitor(2);
  hearts.watch(ann);
  hearts.on_time(at(0s));
  EXPECT_TRUE(hearts.on_time(at(1h)).dead.empty());
  EXPECT_TRUE(hearts.on_time(at(1h)).dead.empty());
}

}  // namespace
}  // namespace px::controller
