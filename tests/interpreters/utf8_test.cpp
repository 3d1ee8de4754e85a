#include <gtest/gtest.h>

#include "interpreters/utf8.hpp"

namespace px::interpreters {
namespace {

TEST(WholeCharacters, AnAsciiTextIsWhole) {
  EXPECT_EQ(whole_characters("abc"), 3u);
  EXPECT_EQ(whole_characters(""), 0u);
}

TEST(WholeCharacters, TheBeginningOfACharacterWaitsForItsRest) {
  EXPECT_EQ(whole_characters("a\xc3"), 1u);
  EXPECT_EQ(whole_characters("a\xc3\xa9"), 3u);
  EXPECT_EQ(whole_characters("\xe2\x82"), 0u);
  EXPECT_EQ(whole_characters("\xe2\x82\xac"), 3u);
  EXPECT_EQ(whole_characters("x\xf0\x9f\x98"), 1u);
  EXPECT_EQ(whole_characters("x\xf0\x9f\x98\x80"), 5u);
}

TEST(WholeCharacters, WhatIsNoUtf8IsNotHeldBack) {
  EXPECT_EQ(whole_characters("a\xff"), 2u);
  EXPECT_EQ(whole_characters("\x80\x80\x80\x80"), 4u);
}

}  // namespace
}  // namespace px::interpreters
