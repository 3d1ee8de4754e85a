#include "wire/pieces.hpp"

#include <gtest/gtest.h>

#include "wire/json.hpp"

namespace px {
namespace {

std::string counting(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

std::vector<std::string> texts(const std::vector<SharedBytes>& buffers) {
  std::vector<std::string> all;
  for (const SharedBytes& each : buffers) all.emplace_back(each.bytes);
  return all;
}

TEST(Pieces, SmallBuffersStayAsTheyAre) {
  const Pieces cut_ones =
      cut_pieces("{\"a\": 1}", {owned_bytes(""), owned_bytes(counting(piece_bytes))});
  EXPECT_EQ(cut_ones.content, "{\"a\": 1}");
  EXPECT_EQ(cut_ones.buffers.size(), 2u);
  EXPECT_EQ(texts(join_pieces(cut_ones.content, cut_ones.buffers)), texts(cut_ones.buffers));
}

TEST(Pieces, LargeBuffersComeBackWhole) {
  const std::vector<std::string> sizes{"", counting(3 * piece_bytes), "small",
                                       counting(piece_bytes + 1)};
  std::vector<SharedBytes> buffers;
  for (const std::string& text : sizes) buffers.push_back(owned_bytes(text));
  for (const std::string content : {"{}", "{ }", "{\"a\": {\"b\": []}}", "{\"a\": \"}\"} "}) {
    const Pieces pieces = cut_pieces(content, buffers);
    EXPECT_EQ(pieces.buffers.size(), 1u + 3u + 1u + 2u);
    for (const SharedBytes& piece : pieces.buffers) EXPECT_LE(piece.bytes.size(), piece_bytes);
    Json expected = Json::parse(content);
    expected["pieces"] = {1, 3, 1, 2};
    EXPECT_EQ(Json::parse(pieces.content), expected) << content;
    EXPECT_EQ(texts(join_pieces(pieces.content, pieces.buffers)), sizes);
  }
}

TEST(Pieces, CutsWithoutACopyAndKeepsTheOwner) {
  const SharedBytes buffer = owned_bytes(counting(2 * piece_bytes));
  const Pieces pieces = cut_pieces("{}", {buffer});
  ASSERT_EQ(pieces.buffers.size(), 2u);
  EXPECT_EQ(pieces.buffers[0].bytes.data(), buffer.bytes.data());
  EXPECT_EQ(pieces.buffers[1].owner, buffer.owner);
}

TEST(Pieces, AHugeBufferHasABoundedNumberOfThem) {
  // Never read: only its size counts.
  const SharedBytes huge{std::string_view("x", 1).substr(0, 1), nullptr};
  const SharedBytes pretended{{huge.bytes.data(), std::size_t{64} << 30}, nullptr};
  EXPECT_LE(cut_pieces("{}", {pretended}).buffers.size(), most_pieces);
}

TEST(Pieces, WrongOnesAreNone) {
  const std::vector<SharedBytes> frames{owned_bytes("a"), owned_bytes("b"), owned_bytes("c")};
  for (const char* pieces : {"[1, 1]", "[1, 3]", "[3, 1]", "[0, 3]", "[-1, 4]", "[1.5, 1.5]", "3",
                             "[18446744073709551615, 1]", "[\"3\"]", "[1, 1, 1, 1]", "[", "null"}) {
    const auto whole = join_pieces(std::string("{\"pieces\": ") + pieces + "}", frames);
    EXPECT_EQ(texts(whole), texts(frames)) << pieces;
  }
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts(join_pieces("{\"pieces\": [2, 1]}", frames)), Texts({"ab", "c"}));
  EXPECT_EQ(texts(join_pieces("{\"other\": {\"pieces\": [3]}}", frames)), texts(frames));
}

}  // namespace
}  // namespace px
