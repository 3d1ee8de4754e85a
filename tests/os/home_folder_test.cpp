#include "os/folders.hpp"

#include <gtest/gtest.h>

#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

TEST(HomeFolder, ATildeAtTheBeginningIsTheHomeFolder) {
  const ScopedVariable home{"HOME", "/home/ann"};
  EXPECT_EQ(expand_home("~"), "/home/ann");
  EXPECT_EQ(expand_home("~/file"), "/home/ann/file");
  EXPECT_EQ(expand_home("~bob/file"), "~bob/file");
  EXPECT_EQ(expand_home("folder/~"), "folder/~");
  EXPECT_EQ(expand_home(""), "");
}

TEST(HomeFolder, WithoutAHomeNothingIsExpanded) {
  const ScopedVariable home{"HOME", nullptr};
  EXPECT_EQ(expand_home("~/file"), "~/file");
}

}  // namespace
}  // namespace px::os
