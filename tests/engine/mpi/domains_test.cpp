#include "engine/mpi/domains.hpp"

#include <gtest/gtest.h>

namespace px::engine {
namespace {

constexpr Instant now{std::chrono::seconds(1000)};

/// Rank 0 of a world of four.
class DomainsTest : public testing::Test {
 protected:
  static RankNote failed(int rank, std::map<std::uint64_t, std::uint64_t> epochs) {
    RankNote note;
    note.kind = NoteKind::failed;
    note.rank = Rank{rank};
    note.cell = 5;
    note.reason = "raised ValueError: x";
    note.epochs = std::move(epochs);
    return note;
  }
  static RankNote stopped(int rank, const Domain& domain) {
    RankNote note = failed(rank, {{domain.number, domain.epoch}});
    note.kind = NoteKind::stopped;
    for (const Rank member : domain.members) note.members.push_back(member.value);
    return note;
  }

  Domains domains{Rank{0}, {0, 1, 2, 3}};
};

TEST_F(DomainsTest, TheSameRanksInAnyOrderAreOneDomain) {
  Domain& pair = domains.of({2, 0});
  EXPECT_EQ(&domains.of({0, 2}), &pair);
  EXPECT_NE(&domains.of({0, 1}), &pair);
  EXPECT_EQ(pair.members, (std::vector{Rank{0}, Rank{2}}));
  EXPECT_EQ(pair.others, std::vector{Rank{2}});
}

TEST_F(DomainsTest, AllRanksAreTheWorld) {
  EXPECT_EQ(&domains.of({3, 2, 1, 0}), &domains.world());
}

TEST_F(DomainsTest, OtherRanksNumberADomainAlike) {
  Domains others{Rank{2}, {0, 1, 2, 3}};
  EXPECT_EQ(others.of({0, 2}).number, domains.of({0, 2}).number);
}

TEST_F(DomainsTest, ANoteIsHeardInItsDomainsOnly) {
  Domain& pair = domains.of({0, 2});
  Domain& three = domains.of({0, 1, 2});
  domains.hear(failed(2, {{pair.number, 0}, {0, 0}}), now);
  EXPECT_TRUE(pair.board.has_failure_in(5));
  EXPECT_TRUE(domains.world().board.has_failure_in(5));
  EXPECT_TRUE(three.board.is_empty());
}

TEST_F(DomainsTest, ANoteHasAnEpochInEachDomain) {
  Domain& pair = domains.of({0, 2});
  pair.board.begin_epoch(++pair.epoch);
  domains.hear(failed(2, {{pair.number, 0}, {0, 0}}), now);
  EXPECT_TRUE(pair.board.is_empty()) << "of an epoch that is over";
  EXPECT_FALSE(domains.world().board.is_empty());
}

TEST_F(DomainsTest, ARankThatStopsInADomainMakesItKnownToItsRanks) {
  Domains others{Rank{2}, {0, 1, 2, 3}}, foreign{Rank{3}, {0, 1, 2, 3}};
  const RankNote note = stopped(0, domains.of({0, 2}));
  others.hear(note, now);
  foreign.hear(note, now);
  EXPECT_EQ(others.all().size(), 2U);
  EXPECT_EQ(others.of({0, 2}).board.latest_epoch(), 1U);
  EXPECT_EQ(foreign.all().size(), 1U);
}

}  // namespace
}  // namespace px::engine
