#include "cluster/supervise/controller_restarts.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace px::cluster {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant{} + time;
}

/// A controller that has served.
ControllerRestarts served() {
  ControllerRestarts restarts;
  restarts.serves();
  return restarts;
}

TEST(ControllerRestarts, ACrashIsAnsweredAtOnce) {
  EXPECT_EQ(served().ended(at(5s)), at(5s));
}

TEST(ControllerRestarts, FurtherCrashesAreAnsweredLaterAndTheSixthInTenMinutesNoMore) {
  ControllerRestarts restarts = served();
  std::vector<Duration> pauses;
  for (Duration now : {0s, 60s, 120s, 180s, 240s}) {
    pauses.push_back(*restarts.ended(at(now)) - at(now));
    restarts.serves();
  }
  EXPECT_EQ(pauses, (std::vector<Duration>{0ms, 250ms, 500ms, 1s, 2s}));
  EXPECT_FALSE(restarts.ended(at(300s)));
}

TEST(ControllerRestarts, CrashesThatAreLongAgoDoNotCount) {
  ControllerRestarts restarts = served();
  for (int crash = 0; crash < 20; ++crash) {
    EXPECT_TRUE(restarts.ended(at(crash * 3min)));
    restarts.serves();
  }
}

TEST(ControllerRestarts, AStartThatFailsIsTriedAgainAfterGrowingPausesUntilEnginesGiveUp) {
  ControllerRestarts restarts = served();
  Instant now = *restarts.ended(at(0s));
  std::vector<Duration> pauses;
  while (const auto due = restarts.ended(now)) {
    pauses.push_back(*due - now);
    now = *due;
  }
  EXPECT_EQ(std::vector(pauses.begin(), pauses.begin() + 7),
            (std::vector<Duration>{250ms, 500ms, 1s, 2s, 4s, 8s, 10s}));
  EXPECT_EQ(pauses.back(), 10s);
  EXPECT_GT(now, at(150s));
  EXPECT_LE(now, at(160s));
}

TEST(ControllerRestarts, FailedStartsAreNoCrashes) {
  ControllerRestarts restarts = served();
  Instant now = at(0s);
  for (int crash = 0; crash < 4; ++crash) {
    now = *restarts.ended(now);
    for (int attempt = 0; attempt < 10; ++attempt) now = *restarts.ended(now);
    restarts.serves();
  }
  EXPECT_TRUE(restarts.ended(now));
}

}  // namespace
}  // namespace px::cluster
