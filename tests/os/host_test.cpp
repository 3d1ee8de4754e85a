#include "os/host.hpp"

#include <gtest/gtest.h>

namespace px::os {
namespace {

TEST(ClockName, IsTheSameForThisProcessWheneverItIsAsked) {
  EXPECT_EQ(clock_name(), clock_name());
  EXPECT_EQ(clock_name().rfind(boot_id(), 0), 0u);
  EXPECT_NE(clock_name(), "");
}

}  // namespace
}  // namespace px::os
