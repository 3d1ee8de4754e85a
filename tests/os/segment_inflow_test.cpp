#include "os/segments/segment_inflow.hpp"

#include <gtest/gtest.h>

#include "os/segments/mapped_segment.hpp"
#include "os/segments/segment.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{};

class SegmentInflowTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(folder_->enter("ann")); }
  static SegmentPiece piece(std::uint64_t number, std::uint64_t offset = 0) {
    SegmentPiece made;
    made.segment = "ann.me.1";
    made.size = 8;
    made.number = number;
    made.offset = offset;
    return made;
  }
  Result<std::string> content() const {
    const auto mapped = MappedSegment::map(*folder_, "ann.me.1");
    if (!mapped) return mapped.error();
    return std::string(*(*mapped)->part(0, 8));
  }

  TemporaryFolder parent_{"/dev/shm"};
  std::shared_ptr<SegmentFolder> folder_ = *SegmentFolder::create({parent_.path(), {}});
  SegmentInflow inflow_{folder_, "ann", start};
};

TEST_F(SegmentInflowTest, PiecesMakeASegmentThatOthersMap) {
  EXPECT_EQ(*inflow_.take(piece(0), "abcd", start), 1u);
  EXPECT_EQ(*inflow_.take(piece(1, 4), "efgh", start), 2u);
  EXPECT_EQ(*content(), "abcdefgh");
  inflow_.release("ann.me.1");
  EXPECT_EQ(content().error().kind, ErrorKind::not_found);
}

TEST_F(SegmentInflowTest, PiecesThatCameBeforeOrTooEarlyAreIgnored) {
  EXPECT_EQ(*inflow_.take(piece(1, 4), "efgh", start), 0u);
  EXPECT_EQ(*inflow_.take(piece(0), "abcd", start), 1u);
  EXPECT_EQ(*inflow_.take(piece(0), "XXXX", start), 1u);
  EXPECT_EQ(*inflow_.take(piece(2, 4), "XXXX", start), 1u);
  EXPECT_EQ(*inflow_.take(piece(1, 4), "efgh", start), 2u);
  EXPECT_EQ(*content(), "abcdefgh");
}

TEST_F(SegmentInflowTest, NothingIsWrittenOutsideOfTheOwnSegment) {
  ASSERT_TRUE(inflow_.take(piece(0), "abcd", start));
  EXPECT_EQ(inflow_.take(piece(1, 5), "efgh", start).error().kind, ErrorKind::bad_input);
  SegmentPiece larger = piece(1, 4);
  larger.size = 16;
  EXPECT_EQ(inflow_.take(larger, "efgh", start).error().kind, ErrorKind::bad_input);
  SegmentPiece far = piece(1, ~std::uint64_t{0});
  EXPECT_EQ(inflow_.take(far, "efgh", start).error().kind, ErrorKind::bad_input);
  for (const char* name : {"bob.me.1", "../ann.me.1", "ann.process", "ann.me.1/x"}) {
    SegmentPiece other = piece(0);
    other.segment = name;
    EXPECT_EQ(inflow_.take(other, "abcd", start).error().kind, ErrorKind::bad_input) << name;
  }
}

TEST_F(SegmentInflowTest, ASegmentThatIsTooLargeIsRefused) {
  SegmentPiece huge = piece(0);
  huge.size = std::uint64_t{1} << 60;
  EXPECT_EQ(inflow_.take(huge, "abcd", start).error().kind, ErrorKind::overloaded);
}

TEST_F(SegmentInflowTest, WhatNobodyReleasesGoesAfterAWhile) {
  ASSERT_TRUE(inflow_.take(piece(0), "abcd", start));
  ASSERT_TRUE(inflow_.take(piece(1, 4), "efgh", start + 100s));
  inflow_.on_time(start + 200s);
  EXPECT_TRUE(content());
  inflow_.on_time(start + 300s);
  EXPECT_FALSE(content());
}

TEST(SegmentPieces, AreReadAsTheyWereWritten) {
  SegmentPiece piece;
  piece.segment = "ann.me.1";
  piece.size = std::uint64_t{5} << 30;
  piece.number = 7;
  piece.offset = std::uint64_t{4} << 30;
  piece.wants_answer = true;
  const auto read = read_segment_piece(Json::parse(write_segment_piece(piece)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->segment, piece.segment);
  EXPECT_EQ(read->size, piece.size);
  EXPECT_EQ(read->number, piece.number);
  EXPECT_EQ(read->offset, piece.offset);
  EXPECT_TRUE(read->wants_answer);
  EXPECT_FALSE(read->is_release);
  for (const char* bad :
       {R"({"segment": "x"})", R"({"segment": "a.b.1", "size": 0, "piece": 0, "offset": 0})",
        R"({"segment": "a.b.1", "size": 4, "piece": -1, "offset": 0})",
        R"({"segment": "a.b.1", "size": 4, "piece": 0, "offset": 4})",
        R"({"segment": "a.b.1", "size": 4, "from": {"rank": -1, "segment": "c.b.1"}})",
        R"({"segment": "a.b.1", "size": 4, "from": {"rank": 0, "segment": "../x"}})",
        R"({"segment": "a.b.1", "size": 4, "from": 3})", R"([])", R"("text")"})
    EXPECT_FALSE(read_segment_piece(Json::parse(bad))) << bad;
}

TEST(SegmentPieces, MayComeFromARankThatHasThem) {
  SegmentPiece first;
  first.segment = "ann.me.1";
  first.size = 4;
  first.takers = 2;
  EXPECT_TRUE(first.has_bytes());
  EXPECT_EQ(read_segment_piece(Json::parse(write_segment_piece(first)))->takers, 2u);
  SegmentPiece wish;
  wish.segment = "cid.me.2";
  wish.size = 4;
  wish.giver = 3;
  wish.given_segment = "ann.me.1";
  const auto read = read_segment_piece(Json::parse(write_segment_piece(wish)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size, 4u);
  EXPECT_EQ(read->giver, std::optional<std::uint64_t>(3));
  EXPECT_EQ(read->given_segment, "ann.me.1");
  EXPECT_FALSE(read->has_bytes());
}

TEST(HostFolder, EnginesOfAnotherHostMeetInAFolderOfTheirOwn) {
  const TemporaryFolder parent{"/dev/shm"};
  ConnectionCommon info;
  info.memory = SharedMemory{(parent.path() / "polyxeus-arrays-abcdef").string(), "elsewhere:1:2"};
  EXPECT_EQ(enter_shared_memory(info, "client"), nullptr);
  auto ann = enter_host_memory(info, "ann");
  const auto bob = enter_host_memory(info, "bob");
  ASSERT_TRUE(ann && bob);
  EXPECT_EQ(ann->name().identity, bob->name().identity);
  EXPECT_TRUE(ann->has("bob") && bob->has("ann"));
  ann.reset();
  EXPECT_FALSE(bob->has("ann"));
  EXPECT_TRUE(std::filesystem::exists(info.memory->folder));
}

TEST(HostFolder, IsRemovedByWhoLeavesLastAndMadeUnderNoOtherName) {
  const TemporaryFolder parent{"/dev/shm"};
  ConnectionCommon info;
  info.memory = SharedMemory{(parent.path() / "polyxeus-arrays-abcdef").string(), "elsewhere:1:2"};
  ASSERT_TRUE(enter_host_memory(info, "ann"));  // and left at once
  EXPECT_FALSE(std::filesystem::exists(info.memory->folder));
  info.memory->folder = (parent.path() / "something-else").string();
  EXPECT_EQ(enter_host_memory(info, "ann"), nullptr);
  EXPECT_FALSE(std::filesystem::exists(info.memory->folder));
}

}  // namespace
}  // namespace px::os
