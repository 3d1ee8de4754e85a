#include "os/segments/fetched_piece.hpp"

#include <gtest/gtest.h>

namespace px::os {
namespace {

const HeldBuffers held{"7", {{0, 5'000'000'000}, {2, 300'000}}};

TEST(FetchedPiece, HeldBuffersSurviveTheMetadata) {
  const auto read = read_held(Packer::json, with_held("{\"engine\": \"ann\"}", held));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "7");
  ASSERT_EQ(read->buffers.size(), 2u);
  EXPECT_EQ(read->buffers[0].bytes, 5'000'000'000u);
  EXPECT_EQ(read->buffers[1].index, 2u);
  EXPECT_FALSE(read_held(Packer::json, "{\"engine\": \"ann\"}"));
}

TEST(FetchedPiece, MalformedHeldBuffersAreNone) {
  for (const char* bad : {"5", "{}", "{\"name\": \"7\"}", "{\"name\": \"7\", \"buffers\": []}",
                          "{\"name\": \"\", \"buffers\": [{\"index\": 0, \"bytes\": 1}]}",
                          "{\"name\": \"7\", \"buffers\": [{\"index\": -1, \"bytes\": 1}]}",
                          "{\"name\": \"7\", \"buffers\": [{\"index\": 0, \"bytes\": 0}]}",
                          "{\"name\": \"7\", \"buffers\": [{\"index\": 0, \"bytes\": 1e30}]}"})
    EXPECT_FALSE(read_held(Packer::json, "{\"held\": " + std::string(bad) + "}")) << bad;
}

TEST(FetchedPiece, ARequestSaysWhetherItsClientIsFar) {
  EXPECT_EQ(read_fetching(Packer::json, with_fetching("{\"label\": null}", true)), true);
  EXPECT_EQ(read_fetching(Packer::json, with_fetching("{}", false)), false);
  EXPECT_FALSE(read_fetching(Packer::json, "{\"label\": null}").has_value());
}

TEST(FetchedPiece, SurvivesItsText) {
  const auto read = [](const FetchedPiece& piece) {
    return read_fetched_piece(Json::parse(write_fetched_piece(piece)));
  };
  const auto piece = read({"7", 2, 262'144, 100, false});
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->index, 2u);
  EXPECT_EQ(piece->offset, 262'144u);
  EXPECT_EQ(piece->length, 100u);
  const auto release = read({"7", 0, 0, 0, true});
  ASSERT_TRUE(release);
  EXPECT_TRUE(release->is_release);
}

TEST(FetchedPiece, MalformedPiecesNameTheMember) {
  const Json good{{"name", "7"}, {"index", 0}, {"offset", 0}, {"length", 1}};
  for (const auto& [member, bad] : std::vector<std::pair<std::string, Json>>{
           {"name", ""}, {"name", 5}, {"index", -1}, {"offset", "x"}, {"length", 0},
           {"length", longest_fetched_piece + 1}}) {
    Json content = good;
    content[member] = bad;
    const auto piece = read_fetched_piece(content);
    ASSERT_FALSE(piece) << content;
    EXPECT_EQ(piece.error().what, "a fetch_request has no usable '" + member + "'");
  }
}

}  // namespace
}  // namespace px::os
