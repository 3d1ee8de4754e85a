#include "magics/magic_completion.hpp"

#include <gtest/gtest.h>

namespace px::magics {
namespace {

using Names = std::vector<std::string>;

std::string help_of(const std::string& command) {
  if (command.empty())
    return "Starts clusters\nUsage: pxcluster SUBCOMMAND\n\nOptions:\n  -h,--help     Print this\n"
           "  --quiet                     The same as --log-level=CRITICAL\n\n"
           "Subcommands:\n  start                       Start a controller\n"
           "  stop                        Stop a cluster\n"
           "  status                      Show what each engine does\n";
  return "Options of " + command +
         ":\n  -h,--help                   Print this help\n"
         "  -n,--n,--Cluster.n INT      Number of engines, not --no-way\n"
         "  --engine-env TEXT           A variable\n";
}

std::optional<MagicCompletion> complete(std::string_view line) {
  return complete_magic(line, help_of);
}

TEST(MagicCompletion, CompletesTheCommandsOfPxcluster) {
  const auto found = complete("  %pxcluster st");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->matches, (Names{"start", "status", "stop"}));
  EXPECT_EQ(found->begin, 13u);
  EXPECT_EQ(complete("%pxcluster ")->matches, (Names{"start", "status", "stop"}));
  EXPECT_EQ(complete("%pxcluster --quiet sto")->matches, Names{"stop"});
  EXPECT_EQ(complete("%pxcluster dance")->matches, Names{});
  EXPECT_FALSE(complete("%pxcluster start x"));
  EXPECT_FALSE(complete("%pxcluster"));
}

TEST(MagicCompletion, CompletesTheOptionsOfACommand) {
  EXPECT_EQ(complete("%pxcluster start -n 4 --e")->matches, Names{"--engine-env"});
  EXPECT_EQ(complete("%pxcluster start --")->matches, (Names{"--engine-env", "--help"}));
  EXPECT_EQ(complete("%pxcluster --")->matches, (Names{"--help", "--quiet"}));
}

TEST(MagicCompletion, CompletesTheOptionsOfAMagic) {
  const auto found = complete("%%px -t 0 --no");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->matches, (Names{"--no-fold", "--no-stream", "--no-verbose", "--noblock"}));
  EXPECT_EQ(found->begin, 10u);
  EXPECT_EQ(complete("%%cpp --loc")->matches, Names{"--local"});
  EXPECT_EQ(complete("%pxconfig --cl")->matches, Names{"--cluster-id"});
  EXPECT_EQ(complete("%pxpull_b a --a")->matches, Names{"--as"});
}

TEST(MagicCompletion, LeavesCodeAlone) {
  EXPECT_FALSE(complete("%px --no"));
  EXPECT_FALSE(complete("%%px st"));
  EXPECT_FALSE(complete("x = 1 --no"));
  EXPECT_FALSE(complete("%%time --no"));
  EXPECT_FALSE(complete(""));
}

}  // namespace
}  // namespace px::magics
