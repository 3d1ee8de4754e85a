#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "engine/mpi/call_entry.hpp"
#include "engine/mpi/host_roll_call.hpp"

namespace px::engine {
namespace {

using Step = CallEntry::Step;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr CollectiveCall call{77, 1};
constexpr std::uint64_t cell = 5;
constexpr Instant start{seconds(1000)};

// ---------------------------------------------------------------- one rank

/// Rank 0, which has come to a call of ranks 0, 1 and 2.
class CallEntryTest : public testing::Test {
 protected:
  void hear(int rank, NoteKind kind, std::optional<CollectiveCall> waits_in = std::nullopt) {
    RankNote note;
    note.kind = kind;
    note.rank = Rank{rank};
    note.cell = cell;
    note.waits_in = waits_in;
    note.reason = kind == NoteKind::failed ? "raised ValueError: x" : "was interrupted";
    board.hear(note, start);
  }
  Step look(bool have_all_come, bool is_interrupted, Duration after = {}) {
    return entry.next({have_all_come, true, is_interrupted, start + after});
  }

  RankBoard board;
  const std::vector<Rank> others{Rank{1}, Rank{2}};
  CallEntry entry{board, others, call, cell, seconds(2)};
};

TEST_F(CallEntryTest, EntersWhenAllHaveCome) {
  EXPECT_EQ(look(false, false), Step::wait);
  EXPECT_EQ(look(true, false), Step::enter);
  EXPECT_FALSE(entry.is_interrupted());
}

TEST_F(CallEntryTest, AsksForAWhileWhenItIsInterrupted) {
  EXPECT_EQ(look(false, true), Step::ask);
  EXPECT_EQ(look(false, true, milliseconds(200)), Step::wait);
  EXPECT_EQ(look(false, true, milliseconds(300)), Step::leave);
  EXPECT_EQ(entry.where(), "; ranks 1, 2 did not answer");
}

TEST_F(CallEntryTest, LeavesAsSoonAsAllHaveAnsweredAndOneDoesNotCome) {
  EXPECT_EQ(look(false, true), Step::ask);
  hear(1, NoteKind::leaving, call);
  EXPECT_EQ(look(false, false), Step::wait);
  hear(2, NoteKind::idle);
  EXPECT_EQ(look(false, false), Step::leave);
  EXPECT_EQ(entry.where(), ", which rank 2 had not reached");
}

TEST_F(CallEntryTest, StaysWhenAllHaveComeAndLeavesTheCellAfterTheCall) {
  EXPECT_EQ(look(false, true), Step::ask);
  EXPECT_EQ(look(true, false, seconds(9)), Step::stay) << "the time is over, but all came before";
  EXPECT_EQ(look(true, false), Step::enter);
  EXPECT_TRUE(entry.is_interrupted());
}

TEST_F(CallEntryTest, NeverLeavesWhenAllHaveComeAndANoteIsOnItsWay) {
  EXPECT_EQ(look(false, true), Step::ask);
  EXPECT_EQ(entry.next({true, false, true, start + seconds(9)}), Step::wait);
  EXPECT_EQ(entry.next({true, true, true, start + seconds(9)}), Step::stay);
}

TEST_F(CallEntryTest, WaitsForTheAnswerOfAnotherRankThatAsks) {
  hear(1, NoteKind::leaving, call);
  EXPECT_EQ(look(true, false), Step::wait);
  hear(1, NoteKind::stays);
  EXPECT_EQ(look(true, false), Step::enter);
}

TEST_F(CallEntryTest, WaitsForThatAnswerAlsoWhereItHasPromisedToStay) {
  EXPECT_EQ(look(false, true), Step::ask);
  hear(1, NoteKind::leaving, call);
  EXPECT_EQ(look(true, false), Step::stay);
  EXPECT_EQ(look(true, false), Step::wait) << "rank 1 may leave yet, as its time is over";
  hear(1, NoteKind::stopped, call);
  EXPECT_EQ(look(true, false), Step::leave);
}

TEST_F(CallEntryTest, AsksBeforeItFailsAsARankThatHadFailedMayHaveComeWithItsNextCell) {
  hear(2, NoteKind::failed);
  EXPECT_EQ(look(false, false, seconds(1)), Step::wait);
  EXPECT_EQ(look(false, false, seconds(3)), Step::ask);
  EXPECT_EQ(entry.why(), "rank 2 raised ValueError: x");
  EXPECT_EQ(look(false, false, seconds(3)), Step::fail);
  EXPECT_EQ(entry.why(), "rank 2 raised ValueError: x");
}

TEST_F(CallEntryTest, FailsAtOnceWhereOneHasLeftTheCall) {
  hear(1, NoteKind::stopped, call);
  EXPECT_EQ(look(true, false), Step::fail);
  EXPECT_EQ(entry.why(), "rank 1 was interrupted");
}

// ---------------------------------------------------------------- all ranks

constexpr std::size_t n_ranks = 3;

/// What the ranks of a host have in common: counts in memory, and notes on their way.
struct Host {
  std::array<HostCount, n_ranks> came, sent;
  std::array<std::array<HostPart, 2>, n_ranks> parts;
  std::array<std::array<std::deque<RankNote>, n_ranks>, n_ranks> notes;  // by receiver and sender
  Instant now = start;
};

/// Comes to the call, and then does what the entry says. Each step() is one that the system may
/// interrupt for any time, while the other ranks go on.
class SimulatedRank {
 public:
  SimulatedRank(Host& host, std::size_t own, HostRollCall roll_call, bool is_interrupted)
      : host_(host), own_(own), roll_call_(std::move(roll_call)), is_interrupted_(is_interrupted) {
    for (std::size_t rank = 0; rank < n_ranks; ++rank)
      if (rank != own) others_.push_back(Rank{static_cast<int>(rank)});
    entry_ = std::make_unique<CallEntry>(board_, others_, call, cell, seconds(2));
  }

  bool has_ended() const { return end_ && !to_send_; }
  bool has_entered() const { return end_ == Step::enter; }

  void step() {
    switch (next_++) {
      case 0:
        roll_call_.come_to(0, 1);
        return;
      case 1:
        before_look_ = host_.now;
        hear();
        return;
      case 2:
        have_come_ = roll_call_.have_all_come();
        return;
      case 3:
        if (have_come_) hear();
        has_heard_all_ = !has_unheard();
        return;
      case 4:
        decide();
        return;
      default:
        send();
        next_ = 1;
    }
  }

 private:
  void hear() {
    for (std::size_t from = 0; from < n_ranks; ++from)
      for (std::deque<RankNote>& queue = host_.notes[own_][from]; !queue.empty();) {
        board_.hear(queue.front(), host_.now);
        queue.pop_front();
        ++heard_[from];
      }
  }
  bool has_unheard() const {
    for (std::size_t from = 0; from < n_ranks; ++from)
      if (from != own_ && host_.sent[from].value != heard_[from]) return true;
    return false;
  }

  void decide() {
    const Instant now = entry_->has_asked() ? before_look_ : host_.now;
    const Step step = entry_->next({have_come_, has_heard_all_, is_interrupted_, now});
    if (step == Step::ask) tell(NoteKind::leaving);
    if (step == Step::stay) tell(NoteKind::stays);
    if (step == Step::leave || step == Step::fail) tell(NoteKind::stopped);
    if (step == Step::enter || step == Step::leave || step == Step::fail) end_ = step;
  }

  /// The count first, the note itself some time later.
  void tell(NoteKind kind) {
    ++host_.sent[own_].value;
    RankNote note;
    note.kind = kind;
    note.rank = Rank{static_cast<int>(own_)};
    note.cell = cell;
    if (kind != NoteKind::stays) note.waits_in = call;
    note.reason = "was interrupted";
    note.is_consequence = kind == NoteKind::stopped && !entry_->is_interrupted();
    to_send_ = note;
  }
  void send() {
    if (!to_send_) return;
    for (std::size_t to = 0; to < n_ranks; ++to)
      if (to != own_) host_.notes[to][own_].push_back(*to_send_);
    to_send_.reset();
  }

  Host& host_;
  const std::size_t own_;
  HostRollCall roll_call_;
  const bool is_interrupted_;
  RankBoard board_;
  std::vector<Rank> others_;
  std::unique_ptr<CallEntry> entry_;
  std::array<std::uint64_t, n_ranks> heard_{};
  int next_ = 0;
  Instant before_look_;
  bool have_come_ = false, has_heard_all_ = false;
  std::optional<RankNote> to_send_;
  std::optional<Step> end_;
};

class Simulation {
 public:
  explicit Simulation(unsigned seed) : chance_(seed) {
    std::array<HostRollCall::RankCount, n_ranks> places;
    for (std::size_t rank = 0; rank < n_ranks; ++rank)
      places[rank] = {&host_.came[rank], 0, host_.parts[rank].data()};
    for (std::size_t rank = 0; rank < n_ranks; ++rank) {
      const HostRollCall roll_call{{places.begin(), places.end()}, rank, 0};
      ranks_.push_back(
          std::make_unique<SimulatedRank>(host_, rank, roll_call, rank == 0 || draw(3) > 0));
    }
  }

  /// Rank by rank in a random order until all have ended. Returns how many have entered.
  std::size_t run() {
    std::size_t starved = n_ranks;
    for (int steps = 0; steps < 100000 && !have_ended(); ++steps) {
      if (draw(10) == 0) host_.now += milliseconds(draw(120));
      if (draw(30) == 0) starved = draw(n_ranks + 1);
      const std::size_t rank = draw(n_ranks);
      if (rank == starved) continue;
      for (unsigned times = draw(6); times > 0 && !ranks_[rank]->has_ended(); --times)
        ranks_[rank]->step();
    }
    EXPECT_TRUE(have_ended()) << "a rank waits for ever";
    std::size_t n_entered = 0;
    for (const auto& rank : ranks_) n_entered += rank->has_entered() ? 1 : 0;
    return n_entered;
  }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(chance_() % below); }
  bool have_ended() const {
    for (const auto& rank : ranks_)
      if (!rank->has_ended()) return false;
    return true;
  }

  std::mt19937 chance_;
  Host host_;
  std::vector<std::unique_ptr<SimulatedRank>> ranks_;
};

TEST(CallEntries, AllRanksTakePartInTheCallOrNone) {
  std::array<int, n_ranks + 1> counts{};
  for (unsigned seed = 0; seed < 20000; ++seed) {
    const std::size_t n_entered = Simulation{seed}.run();
    ASSERT_TRUE(n_entered == 0 || n_entered == n_ranks)
        << n_entered << " ranks wait in the call for the others; seed " << seed;
    ++counts[n_entered];
  }
  EXPECT_GT(counts[0], 100) << "the seeds must show both";
  EXPECT_GT(counts[n_ranks], 100);
}

}  // namespace
}  // namespace px::engine
