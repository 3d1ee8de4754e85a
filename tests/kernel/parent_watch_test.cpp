#include "kernel/parent_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace px::kernel {
namespace {

TEST(ParentWatch, KnowsTheAncestorsOfThisProcess) {
  EXPECT_TRUE(is_ancestor(::getppid()));
  EXPECT_FALSE(is_ancestor(::getpid() + 1'000'000));
}

}  // namespace
}  // namespace px::kernel
