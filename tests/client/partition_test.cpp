#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "client/partition.hpp"

namespace px::client {
namespace {

/// The lines of tests/partition_vectors.txt, which the Python package is tested with as well; tests
/// run somewhere in the source tree.
std::vector<std::string> vectors() {
  std::filesystem::path folder = std::filesystem::current_path();
  while (!std::filesystem::exists(folder / "tests/partition_vectors.txt") &&
         folder.has_relative_path())
    folder = folder.parent_path();
  std::ifstream file(folder / "tests/partition_vectors.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with("#")) lines.push_back(line);
  return lines;
}

/// How a line of that file says these blocks; empty where they do not follow each other.
std::string said(std::size_t count, const std::vector<Block>& blocks) {
  std::string text = std::to_string(count) + " " + std::to_string(blocks.size()) + ":";
  std::size_t next = 0;
  for (const Block block : blocks) {
    if (block.begin != next) return {};
    next = block.end;
    text += " " + std::to_string(block.size());
  }
  return next == count ? text : std::string{};
}

TEST(Partition, TheFirstBlocksAreLongerByOneAsInPython) {
  ASSERT_GT(vectors().size(), 10u);
  for (const std::string& line : vectors()) {
    std::size_t count = 0, pieces = 0;
    std::istringstream(line) >> count >> pieces;
    EXPECT_EQ(said(count, even_blocks(count, pieces)), line);
  }
  EXPECT_EQ(even_blocks(10, 4), (std::vector<Block>{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
}

TEST(Partition, GuidedBlocksCoverAllAndGetSmaller) {
  for (const std::size_t count : {0, 1, 7, 1000, 100000}) {
    std::size_t next = 0;
    std::size_t last_size = count;
    for (const Block block : guided_blocks(count, 4)) {
      EXPECT_EQ(block.begin, next);
      EXPECT_LE(block.size(), last_size);
      EXPECT_GE(block.size(), 1u);
      last_size = block.size();
      next = block.end;
    }
    EXPECT_EQ(next, count);
  }
}

TEST(Partition, ManyTinyItemsAreFewBlocksAndFewItemsAreOneEach) {
  EXPECT_LT(guided_blocks(100000, 4).size(), 150u);
  EXPECT_EQ(guided_blocks(8, 4).size(), 8u);
}

TEST(Partition, BlocksOfAFixedSizeLeaveARest) {
  EXPECT_EQ(blocks_of(5, 2), (std::vector<Block>{{0, 2}, {2, 4}, {4, 5}}));
}

TEST(Partition, ASequenceIsCutAndJoinedAsItsOwnKind) {
  const Value list = Json{1, 2, 3, 4};
  EXPECT_EQ(std::get<Json>(take_block(list, {1, 3})), Json({2, 3}));
  const auto joined = join_values({take_block(list, {0, 1}), take_block(list, {1, 4})});
  ASSERT_TRUE(joined);
  EXPECT_EQ(std::get<Json>(*joined), Json({1, 2, 3, 4}));
  const Value array = AnyArray::adopt(std::vector<double>{1, 2, 3, 4});
  const auto same = join_values({take_block(array, {0, 3}), take_block(array, {3, 4})});
  ASSERT_TRUE(same);
  EXPECT_EQ(std::get<AnyArray>(*same).data.bytes, std::get<AnyArray>(array).data.bytes);
}

TEST(Partition, WhatIsNoSequenceIsNamed) {
  EXPECT_EQ(count_items(Value{Json(3)}).error().what,
            "expected an array or a JSON list, not JSON of the kind number");
  EXPECT_EQ(count_items(std::vector<Value>{Json{1, 2}, Json{1, 2, 3}}).error().what,
            "the sequences of a map must have the same length, but have 2 and 3 items");
  EXPECT_FALSE(count_items(std::vector<Value>{}));
  EXPECT_FALSE(join_values({Value{Json{1, 2}}, Value{Json(3)}}));
  EXPECT_FALSE(join_values({Value{Json{1, 2}}, Value{AnyArray::adopt(std::vector<int>{1})}}));
}

}  // namespace
}  // namespace px::client
