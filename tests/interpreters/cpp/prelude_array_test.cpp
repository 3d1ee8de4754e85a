#include "interpreters/cpp/prelude/px_cell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace {

px::array<int, 2> counted(std::ptrdiff_t rows, std::ptrdiff_t columns) {
  px::array<int, 2> made(rows, columns);
  std::iota(made.begin(), made.end(), 0);
  return made;
}

std::vector<int> elements(const auto& array) {
  return {array.begin(), array.end()};
}

TEST(CellArray, HasElementsInCOrder) {
  const auto a = counted(2, 3);
  EXPECT_EQ(a(1, 0), 3);
  EXPECT_EQ(a.shape(), (std::array<std::ptrdiff_t, 2>{2, 3}));
  EXPECT_EQ(a.shape(1), 3);
  EXPECT_EQ(a.size(), 6u);
  EXPECT_EQ(elements(a), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(a.span()[5], 5);
}

TEST(CellArray, SharesItsElementsWithItsCopies) {
  const auto a = counted(2, 2);
  const auto b = a;
  b(0, 0) = 9;
  EXPECT_EQ(a(0, 0), 9);
  const auto c = a.copy();
  c(0, 0) = 1;
  EXPECT_EQ(a(0, 0), 9);
}

TEST(CellArray, OutlivesWhatItWasTakenFrom) {
  px::array<int, 1> row;
  {
    const auto a = counted(3, 3);
    row = a[2];
  }
  EXPECT_EQ(elements(row), (std::vector<int>{6, 7, 8}));
}

TEST(CellArray, GivesSlicesAndTurnsWithoutCopies) {
  const auto a = counted(3, 4);
  EXPECT_EQ(elements(a.slice(1, 1, 4, 2)), (std::vector<int>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(elements(a.transposed().row(1)), (std::vector<int>{1, 5, 9}));
  EXPECT_EQ(a.transposed()(3, 2), 11);
  EXPECT_TRUE(a.slice(0, 1, 3).is_contiguous());
  EXPECT_FALSE(a.slice(1, 1, 3).is_contiguous());
  EXPECT_THROW((void)a.transposed().span(), std::logic_error);
  EXPECT_THROW((void)a.slice(0, 2, 5), std::out_of_range);
}

TEST(CellArray, TakesAnotherShape) {
  const auto a = counted(2, 6);
  EXPECT_EQ(a.reshaped(3, 2, 2)(2, 1, 1), 11);
  EXPECT_EQ(elements(a.transposed().reshaped(12)),
            (std::vector<int>{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
  EXPECT_THROW((void)a.reshaped(5), std::invalid_argument);
}

TEST(CellArray, ChecksIndexesWhereItIsAsked) {
  const auto a = counted(2, 2);
  EXPECT_EQ(a.at(1, 1), 3);
  EXPECT_THROW(a.at(0, 2), std::out_of_range);
  EXPECT_THROW(a.at(-1, 0), std::out_of_range);
}

TEST(CellArray, IsMadeFromListsAndVectors) {
  EXPECT_EQ((px::array<double, 2>{{1, 2}, {3, 4}})(1, 0), 3);
  EXPECT_THROW((px::array<int, 2>{{1}, {2, 3}}), std::invalid_argument);
  std::vector<double> values{1, 2};
  const double* const memory = values.data();
  EXPECT_EQ(px::array(std::move(values)).data(), memory);
}

TEST(CellArray, WorksWithTheStandardAlgorithms) {
  const auto a = counted(3, 3);
  EXPECT_EQ(std::accumulate(a.begin(), a.end(), 0), 36);
  EXPECT_EQ(*std::max_element(a.begin(), a.end()), 8);
  a.fill(2);
  EXPECT_EQ(std::accumulate(a.begin(), a.end(), 0), 18);
  for (int& each : a.transposed()) each = 1;
  EXPECT_EQ(a(2, 2), 1);
}

TEST(CellArray, MayBeEmpty) {
  EXPECT_TRUE((px::array<int, 2>()).empty());
  EXPECT_TRUE(elements(px::array<int, 2>(0, 3)).empty());
  EXPECT_TRUE(elements(px::array<int, 2>(3, 0)).empty());
}

TEST(CellArray, CanBeReadOnly) {
  const px::array<const int, 2> a = counted(1, 2);
  EXPECT_EQ(a(0, 1), 1);
}

}  // namespace
