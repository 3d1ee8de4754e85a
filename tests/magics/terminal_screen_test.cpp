#include "magics/terminal_screen.hpp"

#include <gtest/gtest.h>

#include <random>

namespace px::magics {
namespace {

using Lines = std::vector<std::string>;

/// What has been printed and what is seen of it at the end.
Lines seen(const std::vector<std::string>& pieces) {
  TerminalScreen screen;
  for (const std::string& piece : pieces) screen.add(piece);
  return screen.take_all();
}

// ---------------------------------------------------------------- bounds

TEST(TerminalScreen, ACursorThatIsMovedFarAwayTakesUpNoMemory) {
  std::string right, down;
  for (int i = 0; i < 100; ++i) right += "\x1b[1000C", down += "\x1b[1000B";
  const Lines wide = seen({right + "x"});
  ASSERT_EQ(wide.size(), 1u);
  EXPECT_LE(wide[0].size(), 2001u);
  EXPECT_EQ(wide[0].back(), 'x');
  EXPECT_LE(seen({down + "x"}).size(), 2001u);
}

// ---------------------------------------------------------------- lines

TEST(TerminalScreen, GivesLinesWithoutTheirEnds) {
  TerminalScreen screen;
  screen.add("a\nb\n\nc");
  EXPECT_EQ(screen.take_lines(), (Lines{"a", "b", ""}));
  EXPECT_EQ(screen.lines(), (Lines{"c"}));
  screen.add("d\n");
  EXPECT_EQ(screen.take_lines(), (Lines{"cd"}));
  EXPECT_TRUE(screen.is_empty());
}

TEST(TerminalScreen, ACarriageReturnBeforeTheEndIsPartOfIt) {
  TerminalScreen screen;
  screen.add("a\r\nb\r");
  EXPECT_EQ(screen.take_lines(), (Lines{"a"}));
  screen.add("\n");
  EXPECT_EQ(screen.take_lines(), (Lines{"b"}));
  EXPECT_FALSE(screen.is_rewritten());
}

TEST(TerminalScreen, TheLastLineCanBeTakenWithoutAnEnd) {
  TerminalScreen screen;
  screen.add("half");
  EXPECT_TRUE(screen.has_open_line());
  EXPECT_EQ(screen.take_open_line(), "half");
  EXPECT_TRUE(screen.is_empty());
  screen.add(" done\n");
  EXPECT_EQ(screen.take_lines(), (Lines{" done"}));
}

TEST(TerminalScreen, ALineThatWasTakenBehindACarriageReturnIsRewrittenByWhatFollows) {
  TerminalScreen screen;
  screen.add("step 1\r");
  EXPECT_FALSE(screen.is_rewritten());
  EXPECT_EQ(screen.take_open_line(), "step 1");
  screen.add("step 2\r");
  EXPECT_TRUE(screen.is_rewritten());
  EXPECT_EQ(screen.lines(), (Lines{"step 2"}));
}

// ---------------------------------------------------------------- one line that is rewritten

TEST(TerminalScreen, WhatFollowsACarriageReturnOverwrites) {
  TerminalScreen screen;
  screen.add("\r 10%\r 20%");
  EXPECT_TRUE(screen.is_rewritten());
  EXPECT_EQ(screen.lines(), (Lines{" 20%"}));
  screen.add("\r100%\n");
  EXPECT_EQ(screen.take_lines(), Lines{}) << "the program may go back to it";
  EXPECT_EQ(screen.take_lines(), (Lines{"100%"}));
  EXPECT_FALSE(screen.is_rewritten());
}

TEST(TerminalScreen, AShorterTextLeavesTheRestOfTheLine) {
  EXPECT_EQ(seen({"abcdef\rxy\n"}), (Lines{"xycdef"}));
}

TEST(TerminalScreen, CharactersOfSeveralBytesAreOverwrittenWhole) {
  EXPECT_EQ(seen({"█░░\r██\n"}), (Lines{"██░"}));
}

TEST(TerminalScreen, ABackspaceGoesBackOneCharacter) {
  EXPECT_EQ(seen({"wait |\b/\b-"}), (Lines{"wait -"}));
  EXPECT_EQ(seen({"\b\ba"}), (Lines{"a"}));
}

TEST(TerminalScreen, ALineCanBeErased) {
  EXPECT_EQ(seen({"abc\r\x1b[Kx"}), (Lines{"x"}));
  EXPECT_EQ(seen({"abcdef\b\b\b\x1b[K"}), (Lines{"abc"}));
  EXPECT_EQ(seen({"abc\x1b[2K\rx"}), (Lines{"x"}));
  EXPECT_EQ(seen({"abcd\b\b\x1b[1K"}), (Lines{"   d"}));
}

TEST(TerminalScreen, AProgramThatErasesItsBarLeavesNothing) {
  TerminalScreen screen;
  screen.add("\r50%\r   \r");
  EXPECT_EQ(screen.lines(), Lines{});
  screen.take_lines();
  EXPECT_FALSE(screen.is_rewritten());
  screen.add("done\n");
  EXPECT_EQ(screen.take_lines(), (Lines{"done"}));
}

// ---------------------------------------------------------------- several lines

/// A bar below another, as tqdm draws it: down, over the line, up again.
std::string inner(const std::string& bar) {
  return "\n\r" + bar + "\x1b[A";
}

TEST(TerminalScreen, NestedBarsAreTwoLines) {
  TerminalScreen screen;
  screen.add("\router 0%" + inner("inner 0%") + inner("inner 50%") + "\router 1%");
  EXPECT_EQ(screen.lines(), (Lines{"outer 1%", "inner 50%"}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(screen.take_lines(), Lines{});
}

TEST(TerminalScreen, ABarThatStaysIsFinalOnceTheOthersAreBelowIt) {
  TerminalScreen screen;
  screen.add("\router 0%" + inner("inner 9%"));
  screen.add("\rinner done\n\router 1%");
  EXPECT_EQ(screen.take_lines(), Lines{});
  screen.add("\router 2%" + inner("inner 1%"));
  EXPECT_EQ(screen.take_lines(), (Lines{"inner done"}));
  EXPECT_EQ(screen.lines(), (Lines{"outer 2%", "inner 1%"}));
  EXPECT_EQ(screen.take_all(), (Lines{"outer 2%", "inner 1%"}));
}

TEST(TerminalScreen, ABarBelowThatGoesLeavesNoLine) {
  EXPECT_EQ(seen({"\router 0%" + inner("inner") + inner("     ") + "\router 100%\n"}),
            (Lines{"outer 100%"}));
}

TEST(TerminalScreen, LinesThatWerePrintedCanBeRewrittenBeforeTheyAreTaken) {
  TerminalScreen screen;
  screen.add("a\nb\n\x1b[2Ax\n\x1b[By\n");
  EXPECT_EQ(screen.take_all(), (Lines{"x", "b", "y"}));
}

TEST(TerminalScreen, TheCursorStopsAtLinesThatWereTaken) {
  TerminalScreen screen;
  screen.add("a\n");
  screen.take_lines();
  screen.add("b\x1b[5A\rc");
  EXPECT_EQ(screen.lines(), (Lines{"c"}));
}

TEST(TerminalScreen, TheScreenCanBeErased) {
  EXPECT_EQ(seen({"a\nb\nc\x1b[2A\r\x1b[J"}), Lines{});
  EXPECT_EQ(seen({"a\nb\x1b[2J\x1b[Hc"}), (Lines{"c"}));
}

TEST(TerminalScreen, LinesThatAreRewrittenAreBounded) {
  TerminalScreen screen;
  screen.add("\rbar");
  for (std::size_t i = 0; i < 2 * TerminalScreen::max_rewritten_lines; ++i) screen.add("\nline");
  EXPECT_EQ(screen.take_lines().size(), TerminalScreen::max_rewritten_lines + 1);
}

TEST(TerminalScreen, WhatIsBeforeSomethingElseIsTakenButBarsStay) {
  TerminalScreen screen;
  screen.add("half");
  EXPECT_EQ(screen.take_ended(), (Lines{"half"}));
  screen.add("\r100%\n\router 1%" + inner("inner"));
  EXPECT_EQ(screen.take_ended(), (Lines{"100%"}));
  EXPECT_EQ(screen.lines(), (Lines{"outer 1%", "inner"}));
}

// ---------------------------------------------------------------- control sequences

TEST(TerminalScreen, ColoursStayWithTheirCharacters) {
  EXPECT_EQ(seen({"\x1b[31mred\x1b[0m\n"}), (Lines{"\x1b[31mred\x1b[0m"}));
  EXPECT_EQ(seen({"\x1b[31m"
                  "abc\x1b[0m"
                  "d\rx"}),
            (Lines{"x\x1b[31m"
                   "bc\x1b[0m"
                   "d"}));
  EXPECT_EQ(seen({"\r\x1b[32mok\x1b[0m"}), (Lines{"\x1b[32mok\x1b[0m"}));
}

TEST(TerminalScreen, SequencesMayComeInPieces) {
  EXPECT_EQ(seen({"ab\r\x1b", "[", "K", "c\xe2", "\x96\x88"}), (Lines{"c█"}));
}

TEST(TerminalScreen, OtherSequencesAreLeftOut) {
  EXPECT_EQ(seen({"\x1b[?25la\x1b[6nb\x1b]0;title\a"
                  "c\n"}),
            (Lines{"ab\x1b]0;title\a"
                   "c"}));
  EXPECT_EQ(seen({"a\x1b(b"}), (Lines{"ab"}));
}

TEST(TerminalScreen, WhateverComesItStaysBounded) {
  const std::vector<std::string> pieces{
      "a",        "█",      "\n",    "\r",   "\b", "\x1b[A",  "\x1b[9B", "\x1b[K",   "\x1b[2J",
      "\x1b[31m", "\x1b[m", "\x1b[", "\x1b", "5C", "\x1b[3D", "\x1b]x",  "\xff\xfe", "\x1b[7;3H"};
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random{seed};
    TerminalScreen screen;
    for (int i = 0; i < 300; ++i) {
      screen.add(pieces[random() % pieces.size()]);
      if (random() % 8 == 0) screen.take_lines();
      if (random() % 60 == 0) screen.take_ended();
    }
    EXPECT_LT(screen.line_count(), 4000U);
    screen.take_all();
    EXPECT_TRUE(screen.is_empty());
  }
}

}  // namespace
}  // namespace px::magics
