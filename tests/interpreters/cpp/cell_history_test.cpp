#include "interpreters/cpp/cells/cell_history.hpp"

#include <gtest/gtest.h>

namespace px::cpp {
namespace {

CellHistory three_cells() {
  CellHistory history;
  history.add(1, "int x = 1;");
  history.add(2, "x + 1");
  history.set_output("2");
  history.add(3, "x + 1");
  return history;
}

std::string counts(const Json& found) {
  std::string text;
  for (const Json& entry : found) text += entry.at(1).dump() + " ";
  return text;
}

TEST(CellHistory, GivesTheLastCells) {
  EXPECT_EQ(counts(three_cells().find({{"hist_access_type", "tail"}, {"n", 2}})), "2 3 ");
  EXPECT_EQ(counts(three_cells().find(Json::object())), "1 2 3 ");
  EXPECT_EQ(counts(CellHistory{}.find({{"n", 2}})), "");
}

TEST(CellHistory, GivesCellsByTheirNumbers) {
  const Json request{{"hist_access_type", "range"}, {"start", 1}, {"stop", 3}};
  EXPECT_EQ(counts(three_cells().find(request)), "1 2 ");
}

TEST(CellHistory, SearchesByPatternsOfStarsAndQuestionMarks) {
  const auto search = [](const char* pattern) {
    return counts(three_cells().find({{"hist_access_type", "search"}, {"pattern", pattern}}));
  };
  EXPECT_EQ(search("x*"), "2 3 ");
  EXPECT_EQ(search("*1*"), "1 2 3 ");
  EXPECT_EQ(search("?nt*"), "1 ");
  EXPECT_EQ(search("nothing"), "");
}

TEST(CellHistory, GivesEqualCellsOnceWhereAsked) {
  const Json request{{"hist_access_type", "search"}, {"pattern", "x*"}, {"unique", true}};
  EXPECT_EQ(counts(three_cells().find(request)), "3 ");
}

TEST(CellHistory, HasOutputsBesideTheCellsWhereAsked) {
  const Json found = three_cells().find({{"output", true}});
  EXPECT_EQ(found.at(1), Json::parse(R"([0, 2, ["x + 1", "2"]])"));
  EXPECT_EQ(found.at(2), Json::parse(R"([0, 3, ["x + 1", null]])"));
}

TEST(CellHistory, ForgetsTheOldest) {
  CellHistory history;
  for (int count = 1; count <= 10'005; ++count) history.add(count, "c");
  const Json found = history.find({{"n", 100'000}});
  EXPECT_EQ(found.size(), CellHistory::max_cells);
  EXPECT_EQ(found.at(0).at(1), 6);
}

}  // namespace
}  // namespace px::cpp
