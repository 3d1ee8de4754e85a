#include "magics/magic_cell.hpp"

#include <gtest/gtest.h>

namespace px::magics {
namespace {

TEST(MagicCell, CodeWithoutMagicsIsLeftAsItIs) {
  const MagicCell cell = split_cell("int x = 1;\nx");
  EXPECT_TRUE(cell.calls.empty());
  EXPECT_EQ(cell.code, "int x = 1;\nx");
}

TEST(MagicCell, ACellMagicTakesTheWholeCell) {
  const MagicCell cell = split_cell("\n%%px --targets=0:2 -o r\nint x;\n%px no magic here\n");
  ASSERT_EQ(cell.calls.size(), 1U);
  EXPECT_EQ(cell.calls[0],
            (MagicCall{"px", "--targets=0:2 -o r", "int x;\n%px no magic here\n", true}));
  EXPECT_EQ(cell.code, "");
  EXPECT_EQ(split_cell("%%cpp\nint y;").calls[0], (MagicCall{"cpp", "", "int y;", true}));
}

TEST(MagicCell, LineMagicsStandBeforeTheCodeWhichKeepsItsLineNumbers) {
  const MagicCell cell = split_cell("%px int a = 1;\n\n  %pxpull a --as all\nint b;\n%px late");
  ASSERT_EQ(cell.calls.size(), 2U);
  EXPECT_EQ(cell.calls[0], (MagicCall{"px", "int a = 1;", "", false}));
  EXPECT_EQ(cell.calls[1], (MagicCall{"pxpull", "a --as all", "", false}));
  EXPECT_EQ(cell.code, "\n\n\nint b;\n%px late");
}

TEST(MagicCell, OtherLinesWithAPercentSignBelongToTheCode) {
  for (const char* text : {"%inc /opt\nint x;", "%pxx 1", "%%time\nf();", "%", "%%", "x % px"}) {
    EXPECT_TRUE(split_cell(text).calls.empty()) << text;
    EXPECT_EQ(split_cell(text).code, text);
  }
}

TEST(MagicCell, BlankCellsHoldNothing) {
  for (const char* text : {"", "\n", "  \n\t\n"}) {
    EXPECT_TRUE(split_cell(text).calls.empty());
    EXPECT_EQ(split_cell(text).code, "");
  }
}

}  // namespace
}  // namespace px::magics
