#include "controller/sight/cell_log.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{};

class CellLogTest : public testing::Test {
 protected:
  void submit(const std::string& msg_id, int engine, std::string code = "x = 1/rank",
              Duration at = 0s, std::string session = "ann") {
    log.submitted({.msg_id = MessageId{msg_id}, .session = std::move(session), .source = code},
                  EngineId{engine}, start + at, WallTime{std::chrono::seconds(1000)});
  }
  void finish(const std::string& msg_id, std::string status = "ok", std::string error = "",
              Duration at = 2s) {
    log.finished({.msg_id = MessageId{msg_id}, .status = status, .error = error}, start + at);
  }
  void print(const std::string& msg_id, std::string_view text) {
    log.printed(MessageId{msg_id}, text);
  }
  CellLog log;
};

TEST_F(CellLogTest, RequestsWithTheSameCodeForSeveralEnginesAreOneCell) {
  submit("b", 1);
  submit("a", 0, "x = 1/rank", 10ms);
  print("a", "hello");
  finish("a", "error", "ZeroDivisionError: division by zero");
  const auto cells = log.look();
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].id, "b");
  EXPECT_EQ(cells[0].source, "x = 1/rank");
  EXPECT_EQ(cells[0].submitted, 1000);
  EXPECT_EQ(cells[0].engines, 2u);
  EXPECT_EQ(cells[0].unfinished, 1u);
  EXPECT_EQ(cells[0].failed, 1u);
  ASSERT_EQ(cells[0].parts.size(), 2u);
  EXPECT_EQ(cells[0].parts[0].engine, EngineId{0});
  EXPECT_EQ(cells[0].parts[0].state, "error");
  EXPECT_EQ(cells[0].parts[0].error, "ZeroDivisionError: division by zero");
  EXPECT_EQ(cells[0].parts[0].output, "hello");
  EXPECT_DOUBLE_EQ(cells[0].parts[0].seconds, 1.99);
  EXPECT_EQ(cells[0].parts[1].state, "waits");
}

TEST_F(CellLogTest, OtherCodeAnotherClientTheSameEngineOrALaterTimeIsAnotherCell) {
  submit("1", 0);
  submit("2", 1, "y = 2");
  submit("3", 2, "y = 2", 0s, "bob");
  submit("4", 2, "y = 2", 0s, "bob");
  submit("5", 3, "y = 2", CellLog::one_cell + 1ms, "bob");
  EXPECT_EQ(log.look().size(), 5u);
}

TEST_F(CellLogTest, WhatIsNoCellIsIgnored) {
  print("unknown", "text");
  finish("unknown");
  EXPECT_TRUE(log.look().empty());
}

TEST_F(CellLogTest, AnAnswerThatComesTwiceCountsOnce) {
  submit("1", 0);
  finish("1");
  finish("1", "error");
  EXPECT_EQ(log.look()[0].unfinished, 0u);
  EXPECT_EQ(log.look()[0].failed, 0u);
}

TEST_F(CellLogTest, TheLatestCellsStay) {
  for (std::size_t i = 0; i < Snapshot::max_cells + 3; ++i)
    submit(std::to_string(i), 0, "cell " + std::to_string(i));
  print("0", "of a cell that is gone");
  const auto cells = log.look();
  ASSERT_EQ(cells.size(), Snapshot::max_cells);
  EXPECT_EQ(cells.front().source, "cell 3");
  EXPECT_EQ(cells.back().source, "cell 52");
}

TEST_F(CellLogTest, OnlyTheEndOfLongOutputIsKeptInWholeCharacters) {
  submit("1", 0);
  print("1", std::string(300, 'a'));
  print("1", "\u00e4" + std::string(CellLog::max_output - 1, 'b'));
  EXPECT_EQ(log.look()[0].parts[0].output, std::string(CellLog::max_output - 1, 'b'));
}

TEST_F(CellLogTest, ALongCellIsCutInWholeCharacters) {
  submit("1", 0, std::string(CellLog::max_source - 1, 'x') + "\u00e4");
  EXPECT_EQ(log.look()[0].source, std::string(CellLog::max_source - 1, 'x'));
}

TEST_F(CellLogTest, OfManyEnginesThoseWithErrorsAreShownFirst) {
  for (int id = 0; id < 1000; ++id) submit(std::to_string(id), id);
  finish("997", "error", "ValueError: a");
  const auto cells = log.look();
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].engines, 1000u);
  ASSERT_EQ(cells[0].parts.size(), CellLog::max_parts);
  EXPECT_EQ(cells[0].parts.front().engine, EngineId{0});
  EXPECT_EQ(cells[0].parts.back().engine, EngineId{997});
}

TEST_F(CellLogTest, AllOutputTogetherIsBoundedAndTheLatestCellsHaveTheirs) {
  const std::string text(CellLog::max_output, 'x');
  for (int cell = 0; cell < 4; ++cell)
    for (int id = 0; id < 64; ++id) {
      const std::string msg_id = std::to_string(cell) + "/" + std::to_string(id);
      submit(msg_id, id, "cell " + std::to_string(cell));
      print(msg_id, text);
    }
  std::size_t bytes = 0;
  const auto cells = log.look();
  for (const CellView& cell : cells)
    for (const CellPartView& part : cell.parts) bytes += part.output.size();
  EXPECT_EQ(bytes, Snapshot::max_output);
  EXPECT_EQ(cells.back().parts.front().output, text);
  EXPECT_EQ(cells.front().parts.front().output, "");
}

}  // namespace
}  // namespace px::controller
