#include "interpreters/utf8.hpp"

#include <gtest/gtest.h>

namespace px::interpreters {
namespace {

TEST(Utf8Tail, KeepsWhatIsCutUntilTheRestIsThere) {
  Utf8Tail tail;
  EXPECT_EQ(tail.whole("a\xE2\x82"), "a");
  EXPECT_EQ(tail.whole("\xAC"
                       "b"),
            "\xE2\x82\xAC"
            "b");
  EXPECT_EQ(tail.whole("\xC3"), "");
  EXPECT_EQ(tail.rest(), "\xC3");
  EXPECT_EQ(tail.whole("plain"), "plain");
}

}  // namespace
}  // namespace px::interpreters
