#include "os/segments/segment.hpp"

#include <gtest/gtest.h>

namespace px::os {
namespace {

TEST(Segment, IsNamedByItsOwnerItsMakerAndANumber) {
  const std::string name = segment_name("client_1", "5e-ab", 7);
  EXPECT_EQ(name, "client_1.5e-ab.7");
  EXPECT_TRUE(is_segment_name(name));
  EXPECT_EQ(owner_of_segment(name), "client_1");
}

TEST(Segment, IsNotNamedByWhatLeadsOutOfItsFolder) {
  const std::string long_name(81, 'a');
  for (const std::string name :
       {"", ".", "..", "a", "a.b", "a.b.", ".b.1", "a..1", "a.b.-1", "a.b.+1", "a.b. 1", "a.b.1x",
        "../a.b.1", "a/b.c.1", "/a.b.1", "a.b.1.2", "a.b.99999999999999999999", "a.b.0x1"})
    EXPECT_FALSE(is_segment_name(name)) << name;
  EXPECT_FALSE(is_segment_name(std::string("a\0.b.1", 6)));
  EXPECT_FALSE(is_segment_name(segment_name(long_name, "b", 1)));
  EXPECT_FALSE(is_segment_owner("a.b"));
}

TEST(Segment, ThePlaceOfABufferIsReadAsItWasWritten) {
  const std::string longest(80, 'a');
  const SegmentPart part{segment_name(longest, longest, ~0ull), ~0ull, ~0ull};
  const std::string frame = write_segment_part(part);
  EXPECT_LE(frame.size(), longest_segment_part);
  const auto read = read_segment_part(frame);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, part.name);
  EXPECT_EQ(read->offset, part.offset);
  EXPECT_EQ(read->length, part.length);
}

TEST(Segment, WhatIsNoPlaceIsRefused) {
  for (const std::string frame :
       {"", "px-segment", "px-segment a.b.1 0", "px-segment a.b.1 0 1 2", "px-segment a.b.1  0 1",
        "px-segment a.b.1 -1 1", "px-segment a.b.1 0 18446744073709551616",
        "px-segment ../x.b.1 0 1", "px-segment a.b.1 0 1 ", "Px-segment a.b.1 0 1"})
    EXPECT_FALSE(read_segment_part(frame)) << frame;
  EXPECT_FALSE(read_segment_part("px-segment a.b.1 0 1" + std::string(300, '1')));
}

TEST(Segment, TheMetadataNamesTheBuffersThatLieThere) {
  EXPECT_EQ(with_segments("{}", {0, 2}), "{\"segments\": [0,2]}");
  const std::string metadata = with_segments("{\"label\": null}", {1});
  EXPECT_EQ(segment_indexes(Packer::json, metadata), std::vector<std::size_t>{1});
  EXPECT_EQ(segment_indexes(Packer::msgpack, pack_text(Packer::msgpack, metadata)),
            std::vector<std::size_t>{1});
}

TEST(Segment, MetadataThatIsMalformedNamesNone) {
  for (const char* metadata : {"", "{}", "[]", "{\"segments\": 1}", "{\"segments\": [-1, 0.5]}",
                               "{\"segments\": [\"0\"]}", "{\"segments\": [0"}) {
    EXPECT_TRUE(segment_indexes(Packer::json, metadata).empty()) << metadata;
    EXPECT_TRUE(segment_indexes(Packer::msgpack, metadata).empty()) << metadata;
  }
}

}  // namespace
}  // namespace px::os
