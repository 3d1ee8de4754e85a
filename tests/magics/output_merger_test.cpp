#include "magics/output_merger.hpp"

#include <gtest/gtest.h>

#include <random>

namespace px::magics {
namespace {

using Ranks = std::vector<std::size_t>;

OutputPart line(std::string text) {
  return {PartKind::out, std::move(text), 0, false};
}

/// "0,1:text" for each.
std::vector<std::string> told(const std::vector<MergedPart>& sayings) {
  std::vector<std::string> all;
  for (const MergedPart& part : sayings) {
    std::string text;
    for (const std::size_t rank : part.ranks)
      text += (text.empty() ? "" : ",") + std::to_string(rank);
    all.push_back(text + ":" + part.output.text);
  }
  return all;
}

using Told = std::vector<std::string>;

TEST(OutputMerger, WhatAllSayIsSaidOnce) {
  OutputMerger merger{3, true};
  for (const std::size_t rank : {2, 0, 1}) merger.add(rank, line("ready"));
  EXPECT_EQ(told(merger.take()), (Told{"0,1,2:ready"}));
  EXPECT_TRUE(merger.take().empty());
}

TEST(OutputMerger, WhatDiffersStaysApart) {
  OutputMerger merger{2, true};
  merger.add(0, line("a"));
  merger.add(1, line("b"));
  EXPECT_EQ(told(merger.take()), (Told{"0:a", "1:b"}));
}

TEST(OutputMerger, ItWaitsForARankThatSaysSomethingElseBefore) {
  OutputMerger merger{2, true};
  merger.add(0, line("rank 0"));
  merger.add(0, line("done"));
  merger.add(1, line("rank 1"));
  merger.add(1, line("done"));
  EXPECT_EQ(told(merger.take()), (Told{"0:rank 0", "1:rank 1", "0,1:done"}));
}

TEST(OutputMerger, OppositeOrdersOfTwoRanksAreBothKept) {
  OutputMerger merger{2, true};
  merger.add(0, line("a"));
  merger.add(0, line("b"));
  merger.add(1, line("b"));
  merger.add(1, line("a"));
  const Told output = told(merger.take());
  EXPECT_EQ(output, (Told{"0:a", "0,1:b", "1:a"}));
}

TEST(OutputMerger, StdoutAndStderrAreNeverTheSame) {
  OutputMerger merger{2, true};
  merger.add(0, {PartKind::out, "x", 0, false});
  merger.add(1, {PartKind::err, "x", 0, false});
  EXPECT_EQ(merger.take().size(), 2U);
}

TEST(OutputMerger, ItemsAreNotFolded) {
  OutputMerger merger{2, true};
  merger.add(0, {PartKind::item, "", 0, false});
  merger.add(1, {PartKind::item, "", 1, false});
  EXPECT_EQ(merger.take().size(), 2U);
}

TEST(OutputMerger, LowerRanksComeFirstWhateverCameFirst) {
  OutputMerger merger{3, true};
  for (const std::size_t rank : {2, 0, 1}) merger.add(rank, line("rank " + std::to_string(rank)));
  merger.add(0, line("more"));
  EXPECT_EQ(told(merger.take()), (Told{"0:rank 0", "0:more", "1:rank 1", "2:rank 2"}));
}

TEST(OutputMerger, BundlesOfSeveralRanksComeTogetherThoughTheyDiffer) {
  OutputMerger merger{2, true};
  merger.add(1, {PartKind::bundle, "display", 0, false});
  merger.add(0, line("first"));
  merger.add(0, {PartKind::bundle, "display", 1, false});
  const std::vector<MergedPart> parts = merger.take();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[1].ranks, (Ranks{0, 1}));
  EXPECT_EQ(parts[1].items, (std::vector<std::size_t>{1, 0}));
}

TEST(OutputMerger, WhatARankHasDroppedIsNotShown) {
  OutputMerger merger{2, true};
  for (const std::size_t rank : {0, 1}) merger.add(rank, line("x"));
  merger.add(1, line("y"));
  merger.drop(1);
  EXPECT_EQ(told(merger.take()), (Told{"0:x"}));
  EXPECT_EQ(merger.bytes(), 0U);
}

TEST(OutputMerger, RepeatedLinesStayAsManyAsTheyAre) {
  OutputMerger merger{2, true};
  for (int i = 0; i < 3; ++i) merger.add(0, line("x"));
  for (int i = 0; i < 2; ++i) merger.add(1, line("x"));
  EXPECT_EQ(told(merger.take()), (Told{"0,1:x", "0,1:x", "0:x"}));
}

TEST(OutputMerger, WithoutFoldingWhatIsEqualStaysApart) {
  OutputMerger merger{2, false};
  merger.add(1, line("x"));
  merger.add(0, line("x"));
  EXPECT_EQ(told(merger.take()), (Told{"0:x", "1:x"}));
}

TEST(OutputMerger, WhateverComesEachRankKeepsItsOrderAndNothingIsLost) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random{seed};
    const std::size_t ranks = 1 + random() % 6;
    OutputMerger merger{ranks, true};
    std::vector<Told> put(ranks), got(ranks);
    for (unsigned i = 0, count = static_cast<unsigned>(random() % 80); i < count; ++i) {
      const std::size_t rank = random() % ranks;
      const std::string text(1, static_cast<char>('a' + random() % 5));
      put[rank].push_back(text);
      merger.add(rank, line(text));
      if (random() % 40 == 0)
        for (const MergedPart& part : merger.take())
          for (const std::size_t each : part.ranks) got[each].push_back(part.output.text);
    }
    for (const MergedPart& part : merger.take())
      for (const std::size_t each : part.ranks) got[each].push_back(part.output.text);
    EXPECT_EQ(put, got) << "seed " << seed;
  }
}

}  // namespace
}  // namespace px::magics
