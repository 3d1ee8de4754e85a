#include "client/requests/shared_io_work.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

using namespace std::chrono_literals;

TEST(ShortWaits, NobodyStaysAwakeBeforeAnAnswerHasComeSoon) {
  ShortWaits waits;
  EXPECT_FALSE(waits.stays_awake());
  waits.waited(ShortWaits::longest);
  EXPECT_TRUE(waits.stays_awake());
}

TEST(ShortWaits, AfterALongWaitNobodyStaysAwake) {
  ShortWaits waits;
  waits.waited(1us);
  waits.waited(ShortWaits::longest + 1us);
  EXPECT_FALSE(waits.stays_awake());
}

}  // namespace
}  // namespace px::client
