#include "controller/relay/client_backlog.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

constexpr ClientBounds bounds{1000, 30s};

Instant at(Duration time) {
  return Instant{} + 1000s + time;
}

TEST(ClientBacklog, AClientThatTakesNothingForTheWholePatienceIsStuck) {
  ClientBacklog backlog;
  EXPECT_FALSE(backlog.is_stuck(0, bounds, at(0s)));
  backlog.added(5000);
  EXPECT_FALSE(backlog.is_stuck(5000, bounds, at(29s)));
  backlog.added(9000);
  EXPECT_TRUE(backlog.is_stuck(9000, bounds, at(30s)));
}

TEST(ClientBacklog, OneThatIsSlowIsNot) {
  ClientBacklog backlog;
  backlog.is_stuck(0, bounds, at(0s));
  backlog.added(5000);
  EXPECT_FALSE(backlog.is_stuck(4999, bounds, at(29s)));
  EXPECT_FALSE(backlog.is_stuck(4999, bounds, at(58s)));
  EXPECT_TRUE(backlog.is_stuck(4999, bounds, at(59s)));
  EXPECT_FALSE(backlog.is_stuck(4000, bounds, at(60s)));
}

TEST(ClientBacklog, WhereLittleWaitsNobodyIsStuck) {
  ClientBacklog backlog;
  backlog.added(1000);
  EXPECT_FALSE(backlog.is_stuck(1000, bounds, at(1000s)));
}

}  // namespace
}  // namespace px::controller
