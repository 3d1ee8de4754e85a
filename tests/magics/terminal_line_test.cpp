#include "magics/terminal_line.hpp"

#include <gtest/gtest.h>

namespace px::magics {
namespace {

using Lines = std::vector<std::string>;

TEST(TerminalLine, GivesLinesWithoutTheirEnds) {
  TerminalLine line;
  EXPECT_EQ(line.add("a\nb\n\nc"), (Lines{"a", "b", ""}));
  EXPECT_EQ(line.text(), "c");
  EXPECT_EQ(line.add("d\n"), (Lines{"cd"}));
  EXPECT_TRUE(line.is_empty());
}

TEST(TerminalLine, ACarriageReturnBeforeTheEndIsPartOfIt) {
  TerminalLine line;
  EXPECT_EQ(line.add("a\r\n"), (Lines{"a"}));
  EXPECT_EQ(line.add("b\r"), Lines{});
  EXPECT_EQ(line.add("\n"), (Lines{"b"}));
  EXPECT_FALSE(line.is_rewritten());
}

TEST(TerminalLine, WhatFollowsACarriageReturnOverwrites) {
  TerminalLine line;
  EXPECT_EQ(line.add("\r 10%\r 20%"), Lines{});
  EXPECT_TRUE(line.is_rewritten());
  EXPECT_EQ(line.text(), " 20%");
  EXPECT_EQ(line.add("\r100%\n"), (Lines{"100%"}));
  EXPECT_FALSE(line.is_rewritten());
}

TEST(TerminalLine, AShorterTextLeavesTheRestOfTheLine) {
  TerminalLine line;
  EXPECT_EQ(line.add("abcdef\rxy\n"), (Lines{"xycdef"}));
}

TEST(TerminalLine, ALineThatEndsInACarriageReturnStaysUntilMoreComes) {
  TerminalLine line;
  line.add("step 1\r");
  EXPECT_EQ(line.text(), "step 1");
  EXPECT_FALSE(line.is_rewritten());
  line.add("step 2\r");
  EXPECT_EQ(line.text(), "step 2");
  EXPECT_TRUE(line.is_rewritten());
}

TEST(TerminalLine, CharactersOfSeveralBytesAreOverwrittenWhole) {
  TerminalLine line;
  EXPECT_EQ(line.add("█░░\r██\n"), (Lines{"██░"}));
}

TEST(TerminalLine, TakeGivesTheOpenLineAndBeginsAnew) {
  TerminalLine line;
  line.add("\rhalf");
  EXPECT_EQ(line.take(), "half");
  EXPECT_TRUE(line.is_empty());
  EXPECT_EQ(line.add("x\n"), (Lines{"x"}));
}

}  // namespace
}  // namespace px::magics
