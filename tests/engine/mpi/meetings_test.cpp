#include "engine/mpi/meetings.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace px::engine {
namespace {

constexpr std::uint64_t gang = 7;

/// Ranks of a world, and the notes that are on their way between each two of them, in order.
class MeetingWorld {
 public:
  explicit MeetingWorld(int size) {
    for (int rank = 0; rank < size; ++rank) ranks_.emplace_back(Rank{rank});
  }

  Meetings& operator[](int rank) { return ranks_.at(static_cast<std::size_t>(rank)); }
  void come(int rank, const std::vector<int>& members, std::uint64_t meeting = gang) {
    std::vector<Rank> named;
    for (const int member : members) named.push_back(Rank{member});
    send(rank, (*this)[rank].come(meeting, named));
  }
  void leave(int rank, std::uint64_t meeting = gang) { send(rank, (*this)[rank].leave(meeting)); }
  /// All first members whose questions were refused ask again, and all notes arrive.
  void ask_again() {
    for (int step = 0; step < 200; ++step) {
      for (int rank = 0; rank < size(); ++rank) send(rank, (*this)[rank].ask_again());
      deliver_all();
    }
  }
  /// The next note from one rank to another arrives. False: there is none.
  bool deliver(int from, int to) {
    auto& notes = on_their_way_[{from, to}];
    if (notes.empty()) return false;
    const MeetingNote note = notes.front();
    notes.pop_front();
    send(to, (*this)[to].hear(Rank{from}, note));
    return true;
  }
  /// All notes arrive.
  void deliver_all() {
    for (bool has_some = true; has_some;) {
      has_some = false;
      for (int from = 0; from < size(); ++from)
        for (int to = 0; to < size(); ++to) has_some = deliver(from, to) || has_some;
    }
  }
  int size() const { return static_cast<int>(ranks_.size()); }
  std::vector<int> met(std::uint64_t meeting = gang) {
    std::vector<int> met;
    for (int rank = 0; rank < size(); ++rank)
      if ((*this)[rank].have_met(meeting)) met.push_back(rank);
    return met;
  }

 private:
  void send(int from, const Meetings::Letters& letters) {
    for (const Meetings::Letter& letter : letters)
      on_their_way_[{from, letter.to.value}].push_back(letter.note);
  }

  std::vector<Meetings> ranks_;
  std::map<std::pair<int, int>, std::deque<MeetingNote>> on_their_way_;
};

using MetRanks = std::vector<int>;

TEST(Meetings, MembersMeetWhenTheLastOneHasCome) {
  MeetingWorld world{4};
  world.come(3, {0, 1, 3});
  world.come(0, {0, 1, 3});
  world.deliver_all();
  EXPECT_EQ(world.met(), MetRanks{});
  EXPECT_FALSE(world[0].is_bound(gang));
  EXPECT_FALSE(world[3].is_bound(gang));
  world.come(1, {0, 1, 3});
  world.deliver_all();
  EXPECT_EQ(world.met(), (MetRanks{0, 1, 3}));
}

TEST(Meetings, TheFirstMemberMayBeTheLastToCome) {
  MeetingWorld world{3};
  world.come(1, {2, 0, 1});
  world.come(0, {2, 0, 1});
  world.deliver_all();
  world.come(2, {2, 0, 1});
  world.deliver_all();
  EXPECT_EQ(world.met(), (MetRanks{0, 1, 2}));
}

TEST(Meetings, AMemberThatLeavesBeforeTheOthersComeIsAwaitedAgain) {
  MeetingWorld world{2};
  world.come(1, {0, 1});
  world.leave(1);
  world.deliver_all();
  world.come(0, {0, 1});
  world.deliver_all();
  EXPECT_EQ(world.met(), MetRanks{});
  world.come(1, {0, 1});
  world.deliver_all();
  EXPECT_EQ(world.met(), (MetRanks{0, 1}));
}

TEST(Meetings, AMemberThatLeavesAsItIsAskedReleasesTheOthers) {
  MeetingWorld world{3};
  for (const int rank : {0, 1, 2}) world.come(rank, {0, 1, 2});
  world.deliver(1, 0);
  world.deliver(2, 0);
  world.deliver(0, 1);  // ready
  EXPECT_TRUE(world[1].is_bound(gang));
  world.leave(2);
  world.deliver_all();
  EXPECT_FALSE(world[1].is_bound(gang));
  EXPECT_EQ(world.met(), MetRanks{});
  world.come(2, {0, 1, 2});
  world.deliver_all();
  EXPECT_EQ(world.met(), (MetRanks{0, 1, 2}));
}

TEST(Meetings, TheFirstMemberThatLeavesReleasesTheOthers) {
  MeetingWorld world{3};
  for (const int rank : {0, 1, 2}) world.come(rank, {0, 1, 2});
  world.deliver(1, 0);
  world.deliver(2, 0);
  world.deliver(0, 1);
  world.leave(0);
  world.deliver_all();
  EXPECT_FALSE(world[1].is_bound(gang));
  world.come(0, {0, 1, 2});  // the others are still there
  world.deliver_all();
  EXPECT_EQ(world.met(), (MetRanks{0, 1, 2}));
}

TEST(Meetings, AnAnswerToAnEarlierQuestionDoesNotCount) {
  MeetingWorld world{3};
  for (const int rank : {0, 1, 2}) world.come(rank, {0, 1, 2});
  world.deliver(1, 0);
  world.deliver(2, 0);
  world.deliver(0, 1);  // rank 1 says yes
  world.leave(0);
  world.come(0, {0, 1, 2});  // asks again
  world.deliver(0, 1);       // wait
  EXPECT_FALSE(world[1].is_bound(gang));
  world.leave(1);
  world.deliver_all();
  EXPECT_EQ(world.met(), MetRanks{});
}

TEST(Meetings, SeveralMeetingsWithOneFirstMemberAreKeptApart) {
  MeetingWorld world{3};
  world.come(0, {0, 1}, 1);
  world.come(2, {0, 2}, 2);
  world.deliver_all();
  EXPECT_EQ(world.met(1), MetRanks{});
  world.come(1, {0, 1}, 1);
  world.deliver_all();
  EXPECT_EQ(world.met(1), (MetRanks{0, 1}));
  EXPECT_EQ(world.met(2), MetRanks{});
  world.come(0, {0, 2}, 2);
  world.deliver_all();
  EXPECT_EQ(world.met(2), (MetRanks{0, 2}));
}

TEST(Meetings, ARankIsInSeveralMeetings) {
  MeetingWorld world{3};
  world.come(0, {0, 1}, 1);
  world.come(0, {0, 2}, 2);
  world.come(2, {0, 2}, 2);
  world.deliver_all();
  EXPECT_EQ(world.met(2), (MetRanks{0, 2}));
  EXPECT_TRUE(world[0].is_in(1));
  world.come(1, {0, 1}, 1);
  world.deliver_all();
  EXPECT_EQ(world.met(1), (MetRanks{0, 1}));
}

TEST(Meetings, ARankThatIsBoundElsewhereIsAskedAgain) {
  MeetingWorld world{3};
  world.come(1, {0, 1, 2}, 1);
  world.come(2, {0, 1, 2}, 1);
  world.come(0, {0, 1, 2}, 1);
  world.deliver(1, 0);
  world.deliver(2, 0);
  world.deliver(0, 1);  // ready: rank 1 is bound
  EXPECT_TRUE(world[1].is_bound(1));
  world.come(1, {2, 1}, 2);
  world.come(2, {2, 1}, 2);
  world.deliver(1, 2);  // yes is for rank 0; rank 1 has come
  world.deliver(2, 1);  // ready
  EXPECT_FALSE(world[1].is_bound(2));
  world.deliver_all();
  world.ask_again();
  EXPECT_EQ(world.met(1), (MetRanks{0, 1, 2}));
  EXPECT_EQ(world.met(2), (MetRanks{1, 2}));
}

/// Each rank is in two of three meetings, each of which begins on another rank.
TEST(Meetings, MeetingsWithCommonMembersTakePlaceOneAfterTheOther) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random{seed};
    MeetingWorld world{3};
    for (int rank = 0; rank < 3; ++rank) {
      world.come(rank, {rank, (rank + 1) % 3}, static_cast<std::uint64_t>(rank));
      world.come((rank + 1) % 3, {rank, (rank + 1) % 3}, static_cast<std::uint64_t>(rank));
    }
    for (int step = 0; step < 60; ++step)
      world.deliver(static_cast<int>(random() % 3), static_cast<int>(random() % 3));
    world.deliver_all();
    world.ask_again();
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(world.met(static_cast<std::uint64_t>(rank)).size(), 2u) << "seed " << seed;
  }
}

TEST(Meetings, AfterAMeetingTheSameMembersMayMeetAgain) {
  MeetingWorld world{2};
  for (int i = 0; i < 3; ++i) {
    world.come(1, {0, 1});
    world.deliver_all();
    EXPECT_FALSE(world[1].have_met(gang));
    world.come(0, {0, 1});
    world.deliver_all();
    EXPECT_EQ(world.met(), (MetRanks{0, 1}));
  }
}

/// Ranks come, are stopped and come again at any moments, while notes arrive at any moments: as
/// soon as one has met, all others meet, too, as none that is bound leaves.
TEST(Meetings, AllMeetOrNoneWhateverIsStopped) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random{seed};
    const int size = 2 + static_cast<int>(random() % 3);
    std::vector<int> members;
    for (int rank = 0; rank < size; ++rank) members.push_back(rank);
    MeetingWorld world{size};
    std::vector<bool> is_there(members.size());
    for (int step = 0; step < 200 && world.met().empty(); ++step) {
      const int rank = static_cast<int>(random() % members.size());
      const auto index = static_cast<std::size_t>(rank);
      const int draw = static_cast<int>(random() % 10);
      if (draw < 2 && !is_there[index]) {
        world.come(rank, members);
        is_there[index] = true;
      } else if (draw == 2 && is_there[index] && !world[rank].is_bound(gang)) {
        world.leave(rank);
        is_there[index] = false;
      } else {
        world.deliver(rank, static_cast<int>(random() % members.size()));
      }
    }
    const bool has_begun = !world.met().empty();
    for (int rank = 0; rank < size && has_begun; ++rank)
      ASSERT_TRUE(world[rank].is_bound(gang) || world[rank].have_met(gang)) << "seed " << seed;
    world.deliver_all();
    EXPECT_TRUE(!has_begun || world.met() == members) << "seed " << seed;
    // Whoever is not there comes: then they meet in any case.
    for (int rank = 0; rank < size && !has_begun; ++rank)
      if (!is_there[static_cast<std::size_t>(rank)]) world.come(rank, members);
    world.deliver_all();
    EXPECT_EQ(world.met(), members) << "seed " << seed;
  }
}

}  // namespace
}  // namespace px::engine
