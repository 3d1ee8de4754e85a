#include "net/frame_bundle.hpp"

#include <gtest/gtest.h>

#include <random>

namespace px::net {
namespace {

using Views = std::vector<std::string_view>;
constexpr std::size_t many = 1000;

std::string bundled(const std::vector<std::string>& frames) {
  std::size_t size = FrameBundle::empty_size();
  for (const std::string& frame : frames) size += FrameBundle::size_of(frame.size());
  std::string bytes(size, '?');
  FrameBundle bundle{bytes.data()};
  for (const std::string& frame : frames) bundle.add(frame);
  return bytes;
}

TEST(FrameBundle, IsAMarkAndEachFrameBehindItsLength) {
  EXPECT_EQ(
      bundled({"ab", "", std::string(0x102, 'x')}),
      std::string("<PX|BUNDLE>\x02\0\0\0ab\0\0\0\0\x02\x01\0\0", 25) + std::string(0x102, 'x'));
}

TEST(FrameBundle, OpensAsItWas) {
  const std::vector<std::string> frames{
      "ident", "", "<IDS|MSG>", std::string("\0\xff", 2), std::string(70000, 'x'), "<PX|BUNDLE>"};
  const std::string bytes = bundled(frames);
  const auto opened = FrameBundle::open(bytes, many);
  ASSERT_TRUE(opened);
  EXPECT_EQ(*opened, Views(frames.begin(), frames.end()));
  EXPECT_EQ(opened->at(2).data(), bytes.data() + 11 + 4 + 5 + 4 + 4) << "within the bundle";
}

TEST(FrameBundle, MayHoldNone) {
  EXPECT_EQ(FrameBundle::open(bundled({}), many), Views{});
}

TEST(FrameBundle, IsKnownByItsMark) {
  for (const std::string text : {"", "<PX|BUNDLE", "<IDS|MSG>", "a<PX|BUNDLE>", "<PX|bundle>"}) {
    EXPECT_FALSE(FrameBundle::is_bundle(text)) << text;
    EXPECT_FALSE(FrameBundle::open(text, many)) << text;
  }
  EXPECT_TRUE(FrameBundle::is_bundle(bundled({"a"})));
}

TEST(FrameBundle, CutAnywhereItIsNoneOrHasFewerFrames) {
  const std::vector<std::string> frames{"ident", "", "header", std::string(300, 'x')};
  const std::string bytes = bundled(frames);
  std::size_t opened_count = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto opened = FrameBundle::open(std::string_view(bytes).substr(0, size), many);
    if (!opened) continue;
    ++opened_count;
    EXPECT_EQ(*opened, Views(frames.begin(), frames.begin() + opened->size())) << size;
  }
  EXPECT_EQ(opened_count, frames.size()) << "at the ends of frames alone";
}

TEST(FrameBundle, ALengthBeyondItsEndIsRefused) {
  for (const std::string& length :
       {std::string("\x02\0\0\0", 4), std::string("\xff\xff\xff\xff", 4),
        std::string("\0\0\0\x80", 4)})
    EXPECT_FALSE(FrameBundle::open("<PX|BUNDLE>" + length + "a", many));
}

TEST(FrameBundle, OfMoreFramesThanAllowedIsRefused) {
  const std::string bytes = bundled(std::vector<std::string>(5, ""));
  EXPECT_TRUE(FrameBundle::open(bytes, 5));
  EXPECT_FALSE(FrameBundle::open(bytes, 4));
}

TEST(FrameBundle, HasRoomForShortFramesUpToItsBound) {
  EXPECT_TRUE(FrameBundle::has_room(FrameBundle::empty_size(), FrameBundle::longest_frame));
  EXPECT_FALSE(FrameBundle::has_room(FrameBundle::empty_size(), FrameBundle::longest_frame + 1));
  EXPECT_TRUE(FrameBundle::has_room(FrameBundle::longest - FrameBundle::size_of(7), 7));
  EXPECT_FALSE(FrameBundle::has_room(FrameBundle::longest - FrameBundle::size_of(7), 8));
}

TEST(FrameBundle, AThousandAtRandomOpenAsTheyWere) {
  std::mt19937 random{1};
  for (int i = 0; i < 1000; ++i) {
    std::vector<std::string> frames(random() % 20);
    for (std::string& frame : frames) {
      frame.resize(random() % 4 == 0 ? 0 : random() % 500);
      for (char& each : frame) each = static_cast<char>(random());
    }
    const std::string bytes = bundled(frames);
    EXPECT_EQ(FrameBundle::open(bytes, many), Views(frames.begin(), frames.end()));
  }
}

}  // namespace
}  // namespace px::net
