#include "engine/mpi/cell_vote.hpp"

#include <gtest/gtest.h>

namespace px::engine {
namespace {

const std::vector<Rank> four{Rank{0}, Rank{1}, Rank{2}, Rank{3}};

Json together(std::vector<int> engines, const std::string& id = "cell-7") {
  return {{"together", {{"id", id}, {"engines", engines}}}};
}

TEST(SharedCell, IsOneThatSeveralRanksOfTheWorldWereGiven) {
  const auto cell = shared_cell(together({3, 1, 2}), Rank{2}, four);
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->voters.size(), 3U);
  EXPECT_EQ(cell->teller().value, 1);
  EXPECT_EQ(cell->id, shared_cell(together({1, 2, 3}), Rank{3}, four)->id);
  EXPECT_NE(cell->id, shared_cell(together({1, 2, 3}, "cell-8"), Rank{3}, four)->id);
}

TEST(SharedCell, IsNoneForOneRankAloneOrWithoutMetadata) {
  EXPECT_FALSE(shared_cell(Json::object(), Rank{0}, four));
  EXPECT_FALSE(shared_cell(together({2}), Rank{2}, four));
  EXPECT_FALSE(shared_cell(together({0, 1}), Rank{2}, four));
}

TEST(SharedCell, LeavesOutEnginesThatAreNotInThisWorld) {
  const auto cell = shared_cell(together({0, 1, 4, 5}), Rank{0}, four);
  EXPECT_EQ(cell->voters.size(), 2U);
  EXPECT_FALSE(shared_cell(together({0, 4, 5}), Rank{0}, four));
}

TEST(SharedCell, DoesNotTrustWhatStandsThere) {
  for (const char* text : {R"({"together": 1})", R"({"together": {}})",
                           R"({"together": {"id": 1, "engines": [0, 1]}})",
                           R"({"together": {"id": "a", "engines": "all"}})",
                           R"({"together": {"id": "a", "engines": ["0", null, [1]]}})"})
    EXPECT_FALSE(shared_cell(Json::parse(text), Rank{0}, four)) << text;
}

struct Vote {
  SharedCell cell = *shared_cell(together({0, 1, 2, 3}), Rank{0}, four);
  CellVote vote;

  void cast(int rank, bool compiles, const std::string& reason = "") {
    vote.cast({cell.id, Rank{rank}, compiles, reason});
  }
};

TEST(CellVote, RunsTheCellWhereItCompilesOnAllRanks) {
  Vote story;
  for (const int rank : {2, 0, 3}) {
    story.cast(rank, true);
    EXPECT_FALSE(story.vote.count(story.cell));
  }
  story.cast(1, true);
  EXPECT_TRUE(story.vote.count(story.cell)->runs);
  EXPECT_EQ(story.vote.open_cells(), 0U);
}

TEST(CellVote, NamesTheRanksThatCannotAndTheFirstReason) {
  Vote story;
  for (const int rank : {0, 1}) story.cast(rank, true);
  story.cast(2, false, "unknown type name 'matrix'");
  story.cast(3, false, "other");
  const auto verdict = story.vote.count(story.cell);
  EXPECT_FALSE(verdict->runs);
  EXPECT_EQ(verdict->reason,
            "the cell does not compile on ranks 2, 3 (unknown type name 'matrix'), so no rank "
            "runs it");
}

TEST(CellVote, KeepsBallotsOfACellThatItHasNotReachedYet) {
  Vote story;
  const SharedCell next = *shared_cell(together({0, 1}, "next"), Rank{0}, four);
  story.vote.cast({next.id, Rank{1}, true, ""});
  for (const int rank : {0, 1, 2, 3}) story.cast(rank, true);
  EXPECT_TRUE(story.vote.count(story.cell));
  EXPECT_FALSE(story.vote.count(next));
  story.vote.cast({next.id, Rank{0}, true, ""});
  EXPECT_TRUE(story.vote.count(next)->runs);
}

TEST(CellVote, ForgetsWhatNobodyCounts) {
  CellVote vote;
  for (std::uint64_t cell = 0; cell < 3000; ++cell) vote.cast({cell, Rank{1}, true, ""});
  EXPECT_EQ(vote.open_cells(), CellVote::max_open_cells);
  const SharedCell last{2999, {Rank{1}}};
  EXPECT_TRUE(vote.count(last));
  vote.forget(2998);
  EXPECT_EQ(vote.open_cells(), CellVote::max_open_cells - 2);
}

}  // namespace
}  // namespace px::engine
