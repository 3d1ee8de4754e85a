#include "wire/envelope.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

TEST(Envelope, IsFoundBehindItsRouting) {
  const TextFrames frames{"a", "b", "<IDS|MSG>", "s", "h", "p", "m", "c", "x", "y"};
  const Envelope e = *Envelope::locate(frames);
  EXPECT_EQ(e.ident_count, 2u);
  EXPECT_EQ(e.delimiter_index(), 2u);
  EXPECT_EQ(e.signature, "s");
  EXPECT_EQ(e.header, "h");
  EXPECT_EQ(e.parent_header, "p");
  EXPECT_EQ(e.metadata, "m");
  EXPECT_EQ(e.content, "c");
  EXPECT_EQ(e.first_buffer, 8u);
}

TEST(Envelope, MayHaveNoBuffers) {
  const TextFrames frames{"<IDS|MSG>", "s", "h", "p", "m", "c"};
  EXPECT_EQ(Envelope::locate(frames)->first_buffer, frames.size());
}

TEST(Envelope, BeginsAtTheFirstDelimiter) {
  const TextFrames frames{"<IDS|MSG>", "<IDS|MSG>", "h", "p", "m", "c"};
  EXPECT_EQ(Envelope::locate(frames)->ident_count, 0u);
}

TEST(Envelope, WithoutADelimiterIsRefused) {
  for (const TextFrames& frames : {TextFrames{}, TextFrames{""}, TextFrames{"a", "b"},
                                   TextFrames{"<ids|msg>", "", "", "", ""}})
    EXPECT_FALSE(Envelope::locate(frames));
}

TEST(Envelope, WithFewerThanFiveFramesIsRefused) {
  const TextFrames frames{"a", "<IDS|MSG>", "s", "h", "p", "m"};
  const auto envelope = Envelope::locate(frames);
  ASSERT_FALSE(envelope);
  EXPECT_EQ(envelope.error().what,
            "a message has 4 frames after its delimiter; at least 5 are needed");
}

TEST(Envelope, LooksForTheDelimiterInABoundedNumberOfFrames) {
  std::vector<std::string> frames(16, "ident");
  frames.insert(frames.end(), {"<IDS|MSG>", "s", "h", "p", "m", "c"});
  EXPECT_TRUE(Envelope::locate(TextFrames{frames}));
  frames.insert(frames.begin(), "one more");
  EXPECT_FALSE(Envelope::locate(TextFrames{frames}));
  EXPECT_TRUE(Envelope::locate(TextFrames{frames}, 17));
}

TEST(Frames, CountTheirBytes) {
  EXPECT_EQ(total_bytes(TextFrames{}), 0u);
  EXPECT_EQ(total_bytes(TextFrames{"ab", "", "c"}), 3u);
}

}  // namespace
}  // namespace px
