#include <px/kernel/fold.hpp>

#include <gtest/gtest.h>

#include <random>

namespace px::kernel {
namespace {

using Ranks = std::vector<std::size_t>;

Said line(std::string text) {
  return {Said::Kind::out, std::move(text), 0, false};
}

/// "0,1:text" for each.
std::vector<std::string> told(const std::vector<Saying>& sayings) {
  std::vector<std::string> all;
  for (const Saying& saying : sayings) {
    std::string text;
    for (const std::size_t rank : saying.ranks)
      text += (text.empty() ? "" : ",") + std::to_string(rank);
    all.push_back(text + ":" + saying.said.text);
  }
  return all;
}

using Told = std::vector<std::string>;

TEST(Folder, WhatAllSayIsSaidOnce) {
  Folder folder{3, true};
  for (const std::size_t rank : {2, 0, 1}) folder.add(rank, line("ready"));
  EXPECT_EQ(told(folder.take()), (Told{"0,1,2:ready"}));
  EXPECT_TRUE(folder.is_empty());
}

TEST(Folder, WhatDiffersStaysApart) {
  Folder folder{2, true};
  folder.add(0, line("a"));
  folder.add(1, line("b"));
  EXPECT_EQ(told(folder.take()), (Told{"0:a", "1:b"}));
}

TEST(Folder, ItWaitsForARankThatSaysSomethingElseBefore) {
  Folder folder{2, true};
  folder.add(0, line("rank 0"));
  folder.add(0, line("done"));
  folder.add(1, line("rank 1"));
  folder.add(1, line("done"));
  EXPECT_EQ(told(folder.take()), (Told{"0:rank 0", "1:rank 1", "0,1:done"}));
}

TEST(Folder, OppositeOrdersOfTwoRanksAreBothKept) {
  Folder folder{2, true};
  folder.add(0, line("a"));
  folder.add(0, line("b"));
  folder.add(1, line("b"));
  folder.add(1, line("a"));
  const Told said = told(folder.take());
  EXPECT_EQ(said, (Told{"0:a", "0,1:b", "1:a"}));
}

TEST(Folder, StdoutAndStderrAreNeverTheSame) {
  Folder folder{2, true};
  folder.add(0, {Said::Kind::out, "x", 0, false});
  folder.add(1, {Said::Kind::err, "x", 0, false});
  EXPECT_EQ(folder.take().size(), 2U);
}

TEST(Folder, ItemsAreNotFolded) {
  Folder folder{2, true};
  folder.add(0, {Said::Kind::item, "", 0, false});
  folder.add(1, {Said::Kind::item, "", 1, false});
  EXPECT_EQ(folder.take().size(), 2U);
}

TEST(Folder, RepeatedLinesStayAsManyAsTheyAre) {
  Folder folder{2, true};
  for (int i = 0; i < 3; ++i) folder.add(0, line("x"));
  for (int i = 0; i < 2; ++i) folder.add(1, line("x"));
  EXPECT_EQ(told(folder.take()), (Told{"0,1:x", "0,1:x", "0:x"}));
}

TEST(Folder, WithoutFoldingTheOrderIsThatOfArrival) {
  Folder folder{2, false};
  folder.add(1, line("x"));
  folder.add(0, line("x"));
  EXPECT_EQ(told(folder.take()), (Told{"1:x", "0:x"}));
}

TEST(Folder, WhateverComesEachRankKeepsItsOrderAndNothingIsLost) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random{seed};
    const std::size_t ranks = 1 + random() % 6;
    Folder folder{ranks, true};
    std::vector<Told> put(ranks), got(ranks);
    for (unsigned i = 0, count = static_cast<unsigned>(random() % 80); i < count; ++i) {
      const std::size_t rank = random() % ranks;
      const std::string text(1, static_cast<char>('a' + random() % 5));
      put[rank].push_back(text);
      folder.add(rank, line(text));
      if (random() % 40 == 0)
        for (const Saying& saying : folder.take())
          for (const std::size_t each : saying.ranks) got[each].push_back(saying.said.text);
    }
    for (const Saying& saying : folder.take())
      for (const std::size_t each : saying.ranks) got[each].push_back(saying.said.text);
    EXPECT_EQ(put, got) << "seed " << seed;
  }
}

}  // namespace
}  // namespace px::kernel
