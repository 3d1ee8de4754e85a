#include "engine/held_results.hpp"

#include <gtest/gtest.h>

namespace px::engine {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{};
constexpr std::uint64_t large = HeldResults::least_held_together;

std::vector<SharedBytes> some_buffers() {
  return {owned_bytes("small"), owned_bytes(std::string(large, 'x'))};
}

TEST(HeldResults, LargeBuffersStayAndLeaveTheirPlaces) {
  HeldResults results;
  auto buffers = some_buffers();
  const auto held = results.take(buffers, start);
  ASSERT_TRUE(held);
  ASSERT_EQ(held->buffers.size(), 1u);
  EXPECT_EQ(held->buffers[0].index, 1u);
  EXPECT_EQ(held->buffers[0].bytes, large);
  EXPECT_EQ(buffers.at(0).bytes, "small");
  EXPECT_EQ(buffers.at(1).bytes, "");
  const auto bytes = results.read({held->name, 1, large - 3, 3, false}, start);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->bytes, "xxx");
}

TEST(HeldResults, FewBytesAreNotWorthIt) {
  HeldResults results;
  std::vector<SharedBytes> buffers{owned_bytes(std::string(large - 1, 'x'))};
  EXPECT_FALSE(results.take(buffers, start));
  EXPECT_EQ(buffers.at(0).bytes.size(), large - 1);
  std::vector<SharedBytes> many(100, owned_bytes(std::string(large / 64, 'x')));
  EXPECT_FALSE(results.take(many, start)) << "each of them is small";
}

TEST(HeldResults, APieceOutsideOfItsBufferIsRefused) {
  HeldResults results;
  auto buffers = some_buffers();
  const std::string name = results.take(buffers, start)->name;
  for (const os::FetchedPiece& hostile : std::vector<os::FetchedPiece>{
           {name, 1, large, 1, false},
           {name, 1, large - 1, 2, false},
           {name, 1, std::uint64_t{0} - 1, 2, false},
           {name, 0, 0, 1, false},
           {"other", 1, 0, 1, false}})
    EXPECT_FALSE(results.read(hostile, start)) << hostile.index << " " << hostile.offset;
}

TEST(HeldResults, WhatWasReleasedIsGoneAndSaysWhatToDo) {
  HeldResults results;
  auto buffers = some_buffers();
  const std::string name = results.take(buffers, start)->name;
  results.release(name);
  const auto bytes = results.read({name, 1, 0, 1, false}, start);
  ASSERT_FALSE(bytes);
  EXPECT_NE(bytes.error().what.find("run it again"), std::string::npos);
  EXPECT_FALSE(results.next_deadline());
}

TEST(HeldResults, WhatNobodyAsksForIsForgotten) {
  HeldResults results;
  auto buffers = some_buffers();
  const std::string name = results.take(buffers, start)->name;
  EXPECT_EQ(results.next_deadline(), start + 2min);
  EXPECT_TRUE(results.read({name, 1, 0, 1, false}, start + 1min));
  results.on_time(start + 2min);
  EXPECT_TRUE(results.read({name, 1, 0, 1, false}, start + 2min));
  results.on_time(start + 4min);
  EXPECT_FALSE(results.read({name, 1, 0, 1, false}, start + 4min));
}

TEST(HeldResults, APieceOutlivesTheResult) {
  HeldResults results;
  auto buffers = some_buffers();
  const std::string name = results.take(buffers, start)->name;
  buffers.clear();
  const auto bytes = results.read({name, 1, 0, 3, false}, start);
  results.release(name);
  EXPECT_EQ(bytes->bytes, "xxx");
}

}  // namespace
}  // namespace px::engine
