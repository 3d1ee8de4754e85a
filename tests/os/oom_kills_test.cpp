#include "os/memory_group.hpp"

#include <gtest/gtest.h>

namespace px::os {
namespace {

TEST(OomKills, AreReadFromWhatTheKernelSaysOfAGroup) {
  EXPECT_EQ(read_oom_kills("low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 0\n"), 3);
  EXPECT_EQ(read_oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 12\n"), 12);
  EXPECT_EQ(read_oom_kills("oom_kill_disable 0\nunder_oom 0\n"), std::nullopt);
  EXPECT_EQ(read_oom_kills("oom_kill many\n"), std::nullopt);
}

}  // namespace
}  // namespace px::os
