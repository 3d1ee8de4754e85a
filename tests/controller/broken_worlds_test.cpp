#include "controller/membership/broken_worlds.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

TEST(BrokenWorlds, SayWhichRankDied) {
  BrokenWorlds worlds;
  EXPECT_EQ(worlds.sentence_of("a"), "");
  worlds.rank_died("a", Rank{2}, "SIGKILL");
  EXPECT_EQ(worlds.sentence_of("a"), "MPI world broken: rank 2 died (SIGKILL)");
  EXPECT_EQ(worlds.sentence_of("b"), "");
}

TEST(BrokenWorlds, NameAFewOfManyRanks) {
  BrokenWorlds worlds;
  for (int rank = 9; rank > 3; --rank) worlds.rank_died("a", Rank{rank}, "exit code 3");
  EXPECT_EQ(worlds.sentence_of("a"),
            "MPI world broken: rank 4 died (exit code 3), rank 5 died (exit code 3), rank 6 died "
            "(exit code 3), rank 7 died (exit code 3) and 2 more");
}

TEST(BrokenWorlds, ForgetAWorldThatHasEnded) {
  BrokenWorlds worlds;
  worlds.rank_died("a", Rank{2}, "SIGKILL");
  worlds.ended("a");
  EXPECT_EQ(worlds.sentence_of("a"), "");
}

}  // namespace
}  // namespace px::controller
