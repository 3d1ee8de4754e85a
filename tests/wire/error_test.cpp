#include "wire/error.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace px {
namespace {

TEST(Check, StopsTheProcessAndNamesTheLineOfTheCaller) {
  check(true);
  EXPECT_DEATH(check(false), "bug: a check failed at .*error_test\\.cpp:[0-9]+ in ");
}

TEST(Result, IsAValueOrAnError) {
  const Result<int> good = 3;
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 3);
  const Result<int> bad = Error{ErrorKind::not_found, "no number here"};
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::not_found);
}

TEST(Result, GivesUpAValueThatCanOnlyBeMoved) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(3); };
  const std::unique_ptr<int> value = *make();
  EXPECT_EQ(*value, 3);
}

TEST(Result, AskedForWhatItIsNotStopsTheProcess) {
  EXPECT_DEATH(static_cast<void>(Result<int>(Error{}).value()), "bug: a check failed");
  EXPECT_DEATH(static_cast<void>(Result<int>(3).error()), "bug: a check failed");
  EXPECT_DEATH(static_cast<void>(Result<void>().error()), "bug: a check failed");
}

}  // namespace
}  // namespace px
