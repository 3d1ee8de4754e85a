#include <gtest/gtest.h>

#include "engine/mpi/rank_board.hpp"
#include "wire/rank_names.hpp"

namespace px::engine {
namespace {

using std::chrono::seconds;

constexpr CollectiveCall first{77, 1}, second{77, 2}, elsewhere{99, 1};
constexpr std::uint64_t cell = 5, other_cell = 6;
constexpr Instant start{seconds(1000)};

/// A note of rank 2 about the epoch 0.
RankNote note(NoteKind kind, std::string reason = "raised ValueError: x") {
  RankNote made;
  made.kind = kind;
  made.rank = Rank{2};
  made.cell = cell;
  made.reason = std::move(reason);
  return made;
}

RankNote in_roll_call(NoteKind kind, const CollectiveCall& call) {
  RankNote made = note(kind, "was interrupted");
  made.waits_in = call;
  made.entered[call.communicator] = call.place - 1;
  return made;
}

/// That a rank of the cell waits: for any of these ranks, or in a roll call for all of them.
RankNote waits(int rank, std::vector<int> waits_for,
               std::optional<CollectiveCall> call = std::nullopt) {
  RankNote made = note(NoteKind::waiting, "");
  made.rank = Rank{rank};
  made.waits_for = std::move(waits_for);
  made.waits_in = call;
  made.needs_all = call.has_value();
  return made;
}

RankNote takes_back(int rank) {
  RankNote made = note(NoteKind::stays, "");
  made.rank = Rank{rank};
  return made;
}

TEST(RankNote, TravelsAsBytes) {
  RankNote sent = in_roll_call(NoteKind::leaving, second);
  sent.waits_for = {4, 1};
  sent.needs_all = true;
  sent.epoch = 3;
  sent.entered[99] = 1ULL << 60;
  sent.epochs = {{0, 3}, {1ULL << 60, 4}};
  sent.members = {1, 2};
  const auto received = note_from(to_bytes(sent));
  ASSERT_TRUE(received);
  EXPECT_EQ(received->kind, NoteKind::leaving);
  EXPECT_EQ(received->rank, Rank{2});
  EXPECT_EQ(received->epoch, 3U);
  EXPECT_EQ(received->cell, cell);
  EXPECT_EQ(received->waits_in, second);
  EXPECT_EQ(received->entered, sent.entered);
  EXPECT_EQ(received->waits_for, sent.waits_for);
  EXPECT_TRUE(received->needs_all);
  EXPECT_EQ(received->epochs, sent.epochs);
  EXPECT_EQ(received->members, sent.members);
  EXPECT_EQ(received->reason, "was interrupted");
}

TEST(RankNote, IsNothingWhereBytesAreMissing) {
  const std::string bytes = to_bytes(in_roll_call(NoteKind::leaving, second));
  EXPECT_FALSE(note_from(""));
  EXPECT_FALSE(note_from(bytes.substr(0, 60)));
  EXPECT_FALSE(note_from("\xff" + bytes.substr(1)));
}

TEST(RankBoard, SaysNothingOfRanksThatHaveToldNothing) {
  const RankBoard board;
  EXPECT_FALSE(board.why_missing(Rank{2}, first, cell));
  EXPECT_FALSE(board.why_lost(Rank{2}, cell, start));
  EXPECT_FALSE(board.has_told(Rank{2}, cell));
  EXPECT_EQ(board.latest_epoch(), 0U);
}

TEST(RankBoard, MissesARankWhoseCellHasFailed) {
  RankBoard board;
  board.hear(note(NoteKind::failed), start);
  EXPECT_EQ(board.why_missing(Rank{2}, first, cell), "raised ValueError: x");
  EXPECT_EQ(board.why_lost(Rank{2}, cell, start), "raised ValueError: x");
  EXPECT_TRUE(board.has_failure_in(cell));
  EXPECT_FALSE(board.has_stopped(Rank{2}));
}

TEST(RankBoard, KnowsThatARankThatFailedInAnEarlierCellMayComeInThisOne) {
  RankBoard board;
  board.hear(note(NoteKind::failed), start);
  EXPECT_FALSE(board.why_missing(Rank{2}, first, other_cell));
  EXPECT_FALSE(board.why_lost(Rank{2}, other_cell, start));
  EXPECT_FALSE(board.has_failure_in(other_cell));
  EXPECT_FALSE(board.has_told(Rank{2}, other_cell));
  EXPECT_TRUE(board.has_told(Rank{2}, cell));
}

TEST(RankBoard, MissesARankThatHasStoppedWhateverCellItRan) {
  RankBoard board;
  board.hear(note(NoteKind::stopped), start);
  EXPECT_TRUE(board.why_missing(Rank{2}, first, other_cell));
  EXPECT_TRUE(board.why_lost(Rank{2}, other_cell, start));
  EXPECT_TRUE(board.has_stopped(Rank{2}));
}

TEST(RankBoard, DoesNotMissARankInACallThatItHasEntered) {
  RankBoard board;
  RankNote stopped = note(NoteKind::stopped);
  stopped.entered[77] = 1;
  board.hear(stopped, start);
  EXPECT_FALSE(board.why_missing(Rank{2}, first, cell));
  EXPECT_TRUE(board.has_reached(Rank{2}, first));
  EXPECT_TRUE(board.why_missing(Rank{2}, second, cell));
  EXPECT_TRUE(board.why_missing(Rank{2}, elsewhere, cell));
}

TEST(RankBoard, WaitsForTheLastWordOfARankThatIsLeaving) {
  RankBoard board;
  board.hear(in_roll_call(NoteKind::leaving, first), start);
  EXPECT_TRUE(board.is_leaving(Rank{2}, first));
  EXPECT_FALSE(board.why_missing(Rank{2}, first, cell));
  EXPECT_TRUE(board.why_missing(Rank{2}, elsewhere, cell)) << "it never comes to another call";
  EXPECT_FALSE(board.why_lost(Rank{2}, cell, start));

  RankBoard stays = board;
  stays.hear(note(NoteKind::stays), start);
  EXPECT_FALSE(stays.is_leaving(Rank{2}, first));
  EXPECT_FALSE(stays.why_missing(Rank{2}, first, cell));

  board.hear(in_roll_call(NoteKind::stopped, first), start);
  EXPECT_FALSE(board.is_leaving(Rank{2}, first));
  EXPECT_TRUE(board.why_missing(Rank{2}, first, cell));
  EXPECT_TRUE(board.has_reached(Rank{2}, first)) << "it was there, which messages say";
}

TEST(RankBoard, MissesAnIdleRankUntilACellBegins) {
  RankBoard board;
  board.hear(note(NoteKind::idle, "had ended its cell"), start);
  EXPECT_TRUE(board.why_missing(Rank{2}, first, cell));
  EXPECT_TRUE(board.has_told(Rank{2}, cell));
  EXPECT_FALSE(board.why_lost(Rank{2}, cell, start)) << "it may be given a cell";
  board.begin_cell(start);
  EXPECT_FALSE(board.why_missing(Rank{2}, first, cell));
}

TEST(RankBoard, GivesARankThatFailedTheGraceAnewInTheNextCell) {
  RankBoard board;
  board.hear(note(NoteKind::failed), start);
  board.begin_cell(start + seconds(60));
  EXPECT_FALSE(board.why_lost(Rank{2}, cell, start + seconds(58)));
  EXPECT_TRUE(board.why_lost(Rank{2}, cell, start + seconds(60)));
  board.hear(note(NoteKind::stays), start + seconds(61));
  EXPECT_FALSE(board.why_lost(Rank{2}, cell, start + seconds(70))) << "it runs the same cell again";
}

TEST(RankBoard, KeepsWhatARankHasToldBeforeItWasIdle) {
  RankBoard board;
  board.hear(note(NoteKind::failed), start);
  board.hear(note(NoteKind::idle, "had ended its cell"), start);
  EXPECT_EQ(board.why_lost(Rank{2}, cell, start), "raised ValueError: x");
}

TEST(RankBoard, KeepsWhyARankHasFailedWhenItThenFollowsOthersToTheNextEpoch) {
  RankBoard board;
  board.hear(note(NoteKind::failed), start);
  board.hear(note(NoteKind::stopped, "had ended its cell"), start);
  EXPECT_EQ(board.why_missing(Rank{2}, first, cell), "raised ValueError: x");
}

TEST(RankBoard, KnowsWhoAsks) {
  RankBoard board;
  board.hear(in_roll_call(NoteKind::leaving, second), start);
  ASSERT_EQ(board.asking().size(), 1U);
  EXPECT_EQ(board.asking()[0], std::pair(2, second));
  board.hear(waits(3, {0}), start);
  EXPECT_EQ(board.asking().size(), 2U);
  board.hear(note(NoteKind::stays), start);
  board.hear(takes_back(3), start);
  EXPECT_TRUE(board.asking().empty());
}

TEST(RankBoard, CountsTheGraceFromTheFirstNote) {
  RankBoard board;
  board.hear(note(NoteKind::failed), start);
  board.hear(note(NoteKind::stopped), start + seconds(5));
  EXPECT_FALSE(board.why_lost(Rank{2}, cell, start - seconds(1)));
  EXPECT_TRUE(board.why_lost(Rank{2}, cell, start));
}

TEST(RankBoard, ForgetsInTheNextEpochAndKeepsWhatIsOfItAlready) {
  RankBoard board;
  board.hear(note(NoteKind::stopped), start);
  RankNote later = note(NoteKind::failed, "raised KeyError: y");
  later.epoch = 1;
  board.hear(later, start);
  EXPECT_EQ(board.latest_epoch(), 1U);
  EXPECT_EQ(board.why_lost(Rank{2}, cell, start), "raised ValueError: x");
  board.begin_epoch(1);
  EXPECT_FALSE(board.has_stopped(Rank{2}));
  EXPECT_EQ(board.why_lost(Rank{2}, cell, start), "raised KeyError: y");
  board.hear(note(NoteKind::stopped), start);
  EXPECT_FALSE(board.has_stopped(Rank{2})) << "of an epoch that is over";
  board.begin_epoch(2);
  EXPECT_TRUE(board.is_empty());
  EXPECT_EQ(board.latest_epoch(), 2U);
}

TEST(RankBoard, GivesNoGraceTwice) {
  RankBoard board;
  RankNote stopped = note(NoteKind::stopped, "was stopped, as rank 1 raised KeyError: y");
  stopped.is_consequence = true;
  board.hear(stopped, start);
  EXPECT_TRUE(board.why_lost(Rank{2}, cell, start - seconds(1)));
}

TEST(RankBoard, KnowsWithWhichCommunicatorsARankHasLeft) {
  RankBoard board;
  EXPECT_FALSE(board.knew(Rank{2}, 0, 77));
  RankNote stopped = note(NoteKind::stopped);
  stopped.entered[77] = 0;
  board.begin_epoch(1);
  board.hear(stopped, start);
  EXPECT_EQ(board.knew(Rank{2}, 0, 77), true);
  EXPECT_EQ(board.knew(Rank{2}, 0, 99), false);
  EXPECT_FALSE(board.knew(Rank{2}, 1, 77));
  EXPECT_FALSE(board.knew(Rank{3}, 0, 77));
  EXPECT_TRUE(board.has_one_known_any(0));
  EXPECT_FALSE(board.has_one_known_any(1));
}

TEST(RankBoard, KnowsWhetherAllHaveReachedAnEpoch) {
  RankBoard board;
  const std::vector others{Rank{2}, Rank{3}};
  EXPECT_TRUE(board.have_all_reached(others, 0));
  board.hear(note(NoteKind::stopped), start);
  EXPECT_TRUE(board.have_all_reached({Rank{2}}, 1));
  EXPECT_FALSE(board.have_all_reached(others, 1));
  RankNote other = note(NoteKind::stopped);
  other.rank = Rank{3};
  board.hear(other, start);
  EXPECT_TRUE(board.have_all_reached(others, 1));
  EXPECT_FALSE(board.have_all_reached(others, 2));
  EXPECT_FALSE(board.has_one_known_any(0)) << "none knew a communicator";
}

TEST(RankBoard, NamesTheRanksThatDoNotComeForReasonsOfTheirOwn) {
  RankBoard board;
  const std::vector<Rank> others{Rank{1}, Rank{2}, Rank{3}};
  EXPECT_FALSE(board.why_incomplete(others, first, cell, start));
  RankNote dragged = note(NoteKind::stopped, "rank 2 raised ValueError: x");
  dragged.rank = Rank{1};
  dragged.is_consequence = true;
  board.hear(dragged, start);
  EXPECT_EQ(board.why_incomplete(others, first, cell, start), "rank 2 raised ValueError: x");
  board.hear(note(NoteKind::failed), start);
  RankNote same = note(NoteKind::failed);
  same.rank = Rank{3};
  board.hear(same, start);
  EXPECT_EQ(board.why_incomplete(others, first, cell, start), "ranks 2, 3 raised ValueError: x");
  EXPECT_EQ(board.missing(others, first, cell), others);
  EXPECT_FALSE(board.has_one_stopped({Rank{2}, Rank{3}}, first, cell));
  EXPECT_TRUE(board.has_one_stopped(others, first, cell));
}

TEST(RankBoard, KnowsWhenOneWaitsInVain) {
  RankBoard board;
  const std::vector<Rank> others{Rank{1}, Rank{2}};
  EXPECT_FALSE(board.why_in_vain(others, true, cell, start));
  board.hear(note(NoteKind::failed), start);
  EXPECT_EQ(board.why_in_vain(others, true, cell, start), "rank 2 raised ValueError: x");
  EXPECT_FALSE(board.why_in_vain(others, false, cell, start)) << "rank 1 may still send";
  EXPECT_EQ(board.why_in_vain({Rank{2}}, false, cell, start), "rank 2 raised ValueError: x");
  EXPECT_FALSE(board.why_in_vain(others, true, cell, start - seconds(1))) << "the grace";
  RankNote dragged = note(NoteKind::stopped, "rank 2 raised ValueError: x");
  dragged.rank = Rank{1};
  dragged.is_consequence = true;
  board.hear(dragged, start);
  EXPECT_EQ(board.why_in_vain(others, false, cell, start), "rank 2 raised ValueError: x");
}

TEST(RankBoard, GivesTheFirstCauseOfWhatARankRaisesBecauseOfAnother) {
  RankBoard board;
  RankNote dragged = note(NoteKind::stopped, "rank 2 raised ValueError: x");
  dragged.rank = Rank{3};
  dragged.is_consequence = true;
  board.hear(dragged, start);
  RankNote raised = note(NoteKind::failed, "raised Exception: MPI_Test cannot end: rank 2 raised ValueError: x");
  raised.rank = Rank{3};
  board.hear(raised, start);
  EXPECT_EQ(board.why_in_vain({Rank{3}}, true, cell, start), "rank 2 raised ValueError: x");
  board.hear(note(NoteKind::failed), start);
  const std::vector<Rank> others{Rank{2}, Rank{3}};
  EXPECT_EQ(board.why_in_vain(others, true, cell, start), "rank 2 raised ValueError: x");
  EXPECT_EQ(board.why_incomplete(others, first, cell, start), "rank 2 raised ValueError: x");
}

TEST(RankBoard, CountsTheSilentAndThoseWhoAsk) {
  RankBoard board;
  const std::vector<Rank> others{Rank{1}, Rank{2}};
  EXPECT_EQ(board.silent(others, cell), others);
  EXPECT_FALSE(board.is_one_leaving(others, first));
  board.hear(in_roll_call(NoteKind::leaving, first), start);
  EXPECT_EQ(board.silent(others, cell), std::vector{Rank{1}});
  EXPECT_TRUE(board.is_one_leaving(others, first));
  EXPECT_FALSE(board.is_one_leaving(others, second));
}

TEST(RankNames, AreCountedWhereTheyAreMany) {
  std::vector<Rank> many;
  for (int rank = 0; rank < 100; ++rank) many.push_back(Rank{rank});
  EXPECT_EQ(name_ranks({Rank{2}}), "rank 2");
  EXPECT_EQ(name_ranks({Rank{0}, Rank{3}}), "ranks 0, 3");
  EXPECT_EQ(name_ranks(many), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more");
}

TEST(RankNames, TheVerbFollowsTheNumber) {
  EXPECT_EQ(say_of_ranks({Rank{2}}, "was interrupted"), "rank 2 was interrupted");
  EXPECT_EQ(say_of_ranks({Rank{0}, Rank{1}}, "was interrupted"), "ranks 0, 1 were interrupted");
  EXPECT_EQ(say_of_ranks({Rank{0}, Rank{1}}, "raised ValueError: x was 3"),
            "ranks 0, 1 raised ValueError: x was 3");
}

// ---------------------------------------------------------------- ranks that wait in the end for
// one that failed

/// Of a world of the ranks 0, 1, 2 and 3, in which rank 2 has failed.
class StuckRanksTest : public testing::Test {
 protected:
  StuckRanksTest() { board.hear(note(NoteKind::failed), start); }

  /// Of rank 0.
  std::optional<std::string> why_stuck(std::vector<int> waits_for) const {
    return board.why_stuck(waits(0, std::move(waits_for)), start);
  }

  RankBoard board;
  const std::string why = "rank 2 raised ValueError: x";
};

TEST_F(StuckRanksTest, AWaitForAnyIsInVainWhereTheOthersWaitForItsRank) {
  EXPECT_FALSE(why_stuck({1, 2, 3}));
  board.hear(waits(1, {0}), start);
  EXPECT_FALSE(why_stuck({1, 2, 3})) << "rank 3 computes";
  board.hear(waits(3, {0}), start);
  EXPECT_EQ(why_stuck({1, 2, 3}), why);
}

TEST_F(StuckRanksTest, ItIsNotWhileOneOfThemMayGetOn) {
  board.hear(waits(1, {0}), start);
  board.hear(waits(3, {0}), start);
  board.hear(takes_back(3), start);
  EXPECT_FALSE(why_stuck({1, 2, 3}));
  RankNote earlier = waits(3, {0});
  earlier.cell = other_cell;
  board.hear(earlier, start);
  EXPECT_FALSE(why_stuck({1, 2, 3})) << "it waits in another cell";
}

TEST_F(StuckRanksTest, ItIsInVainThroughSeveralRanks) {
  board.hear(waits(1, {3}), start);
  EXPECT_FALSE(why_stuck({1}));
  board.hear(waits(3, {2}), start);
  EXPECT_EQ(why_stuck({1}), why);
}

TEST_F(StuckRanksTest, ARankThatHasEndedItsCellSendsNothing) {
  board.hear(waits(1, {0}), start);
  RankNote idle = note(NoteKind::idle, "had ended its cell");
  idle.rank = Rank{3};
  board.hear(idle, start);
  EXPECT_EQ(why_stuck({1, 2, 3}), why);
}

TEST_F(StuckRanksTest, ARollCallIsInVainWhereOneThatHasNotComeIsStuck) {
  const CollectiveCall call{88, 1};
  board.hear(waits(1, {3}, call), start);
  EXPECT_FALSE(why_stuck({1, 2}));
  board.hear(waits(3, {1}, call), start);
  EXPECT_FALSE(why_stuck({1, 2})) << "both have come, so the call begins";
  board.hear(waits(3, {0}), start);
  EXPECT_EQ(why_stuck({1, 2}), why);
}

TEST_F(StuckRanksTest, RanksThatWaitForEachOtherAloneAreLeftAsTheyAre) {
  board.hear(waits(1, {0}), start);
  EXPECT_FALSE(why_stuck({1})) << "the rank that failed is none of their concern";
}

TEST_F(StuckRanksTest, TheGraceCounts) {
  board.hear(waits(1, {0}), start);
  board.hear(waits(3, {0}), start);
  EXPECT_FALSE(board.why_stuck(waits(0, {1, 2, 3}), start - seconds(1)));
  EXPECT_FALSE(board.has_lost_one(cell, start - seconds(1)));
  EXPECT_TRUE(board.has_lost_one(cell, start));
}

}  // namespace
}  // namespace px::engine
