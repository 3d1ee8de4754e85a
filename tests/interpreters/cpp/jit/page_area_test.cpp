#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "interpreters/cpp/jit/page_area.hpp"

namespace px::cpp {
namespace {

TEST(PageAreaTest, PiecesLieNextToEachOther) {
  PageArea area(1000, 300);
  EXPECT_EQ(area.take(100), 1000u);
  EXPECT_EQ(area.take(50), 1100u);
  EXPECT_EQ(area.take(150), 1150u);
  EXPECT_EQ(area.take(1), std::nullopt);
}

TEST(PageAreaTest, WhatIsGivenBackIsTakenAgainFirst) {
  PageArea area(0, 300);
  area.take(100);
  area.take(100);
  area.give_back(0, 100);
  EXPECT_EQ(area.take(60), 0u);
  EXPECT_EQ(area.take(60), 200u);
  EXPECT_EQ(area.take(40), 60u);
}

TEST(PageAreaTest, NeighboursThatAreGivenBackAreOnePieceAgain) {
  PageArea area(0, 300);
  for (int i = 0; i < 3; ++i) area.take(100);
  area.give_back(0, 100);
  area.give_back(200, 100);
  EXPECT_EQ(area.take(200), std::nullopt);
  area.give_back(100, 100);
  EXPECT_EQ(area.take(300), 0u);
}

TEST(PageAreaTest, WhatIsMoreThanItHasTakesNothing) {
  PageArea area(0, 100);
  EXPECT_EQ(area.take(101), std::nullopt);
  EXPECT_EQ(area.take(100), 0u);
}

TEST(PageAreaTest, NobodyGetsWhatAnotherOneHas) {
  constexpr std::size_t bytes = 1000;
  std::mt19937 random(1);
  PageArea area(0, bytes);
  std::vector<std::pair<std::size_t, std::size_t>> taken;
  std::vector<bool> is_taken(bytes);
  const auto mark = [&](std::size_t begin, std::size_t size, bool as) {
    for (std::size_t i = begin; i < begin + size; ++i) {
      ASSERT_NE(is_taken[i], as);
      is_taken[i] = as;
    }
  };
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 || taken.empty()) {
      const std::size_t size = 1 + random() % 50;
      const auto begin = area.take(size);
      if (!begin) continue;
      ASSERT_LE(*begin + size, bytes);
      mark(*begin, size, true);
      taken.emplace_back(*begin, size);
    } else {
      std::swap(taken[random() % taken.size()], taken.back());
      const auto [begin, size] = taken.back();
      taken.pop_back();
      mark(begin, size, false);
      area.give_back(begin, size);
    }
  }
  for (const auto& [begin, size] : taken) area.give_back(begin, size);
  EXPECT_EQ(area.take(bytes), 0u);
}

}  // namespace
}  // namespace px::cpp
