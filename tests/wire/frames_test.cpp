#include "wire/frames.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

TEST(Frames, CompactedAreTheSameInOnePiece) {
  const auto frames =
      std::make_shared<TextFrames>(TextFrames{"ident", "", "header", "a buffer", ""});
  const SharedFrames compact = compacted(*frames);
  EXPECT_EQ(frames.use_count(), 1);
  ASSERT_EQ(compact->size(), frames->size());
  for (std::size_t i = 0; i < frames->size(); ++i) EXPECT_EQ(compact->at(i), frames->at(i)) << i;
  EXPECT_EQ(compact->at(2).data(), compact->at(0).data() + 5);
  EXPECT_EQ(total_bytes(*compact), total_bytes(*frames));
}

TEST(Frames, CompactedMayBeNone) {
  EXPECT_EQ(compacted(TextFrames{})->size(), 0u);
}

}  // namespace
}  // namespace px
