#include <gtest/gtest.h>

#include "wire/array.hpp"

namespace px {
namespace {

TEST(AnyArray, NamesItsElementsAsNumPyDoes) {
  EXPECT_EQ(dtype_of<double>(), "<f8");
  EXPECT_EQ(dtype_of<float>(), "<f4");
  EXPECT_EQ(dtype_of<std::int64_t>(), "<i8");
  EXPECT_EQ(dtype_of<std::uint16_t>(), "<u2");
  EXPECT_EQ(dtype_of<signed char>(), "|i1");
  EXPECT_EQ(dtype_of<bool>(), "|b1");
  EXPECT_EQ(dtype_of<std::complex<float>>(), "<c8");
}

TEST(AnyArray, KnowsTheBytesOfAnElement) {
  EXPECT_EQ(*bytes_per_element("<f8"), 8u);
  EXPECT_EQ(*bytes_per_element("<U3"), 12u) << "NumPy's text has four bytes a character";
  EXPECT_EQ(*bytes_per_element("<M8[ns]"), 8u);
  for (const char* bad : {"", "f8", ">f8", "<f", "<q8", "<f8x", "|O"})
    EXPECT_FALSE(bytes_per_element(bad)) << bad;
}

TEST(AnyArray, GivesItsElementsAsTheTypeThatTheyHave) {
  const AnyArray array = AnyArray::adopt(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  const auto elements = array.as<double>();
  ASSERT_TRUE(elements);
  EXPECT_EQ((*elements)[5], 6);
  EXPECT_EQ(array.as<float>().error().what, "the array holds <f8, not <f4");
}

TEST(AnyArray, SaysWhatDoesNotAgree) {
  AnyArray array = AnyArray::adopt(std::vector<double>{1, 2, 3});
  EXPECT_TRUE(array.validate());
  array.shape = {2, 2};
  EXPECT_EQ(array.validate().error().what,
            "an array of <f8 with the shape (2, 2) has 32 bytes; the message has 24 bytes");
  array.shape = {-1, -24};
  EXPECT_FALSE(array.validate());
  array.shape = {std::int64_t{1} << 62, 64};
  EXPECT_FALSE(array.validate()) << "too many for this machine";
}

TEST(AnyArray, IsCutAlongItsFirstAxisAndJoinedAgain) {
  const AnyArray array = AnyArray::adopt(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {5, 2});
  const std::vector<AnyArray> blocks{array.rows(0, 1), array.rows(1, 3), array.rows(3, 5)};
  EXPECT_EQ(blocks[0].shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(blocks[1].shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ((*blocks[2].as<int>())[0], 6);
  const auto joined = join_rows(blocks);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->shape, array.shape);
  EXPECT_EQ(joined->data.bytes, array.data.bytes);
}

TEST(AnyArray, BlocksAreJoinedByTheCallerWhereHeKnowsHow) {
  const std::vector<AnyArray> blocks{AnyArray::adopt(std::vector<int>{1, 2}),
                                     AnyArray::adopt(std::vector<int>{3})};
  const AnyArray whole = AnyArray::adopt(std::vector<int>{1, 2, 3});
  std::vector<std::string_view> asked;
  const auto joined = join_rows(blocks, [&](const std::vector<std::string_view>& parts) {
    asked = parts;
    return std::optional(whole.data);
  });
  ASSERT_TRUE(joined);
  EXPECT_EQ(asked, (std::vector<std::string_view>{blocks[0].data.bytes, blocks[1].data.bytes}));
  EXPECT_EQ(joined->data.bytes.data(), whole.data.bytes.data());
  EXPECT_EQ(joined->shape, whole.shape);
  const auto copied =
      join_rows(blocks, [](const auto&) -> std::optional<SharedBytes> { return std::nullopt; });
  ASSERT_TRUE(copied);
  EXPECT_EQ(copied->data.bytes, whole.data.bytes);
}

TEST(AnyArray, BlocksThatDoNotFitAreNamed) {
  const auto joined = join_rows(
      {AnyArray::adopt(std::vector<int>{1, 2}, {1, 2}), AnyArray::adopt(std::vector<int>{1})});
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().what, "blocks of <i4 (1, 2) and of <i4 (1) do not fit together");
}

TEST(AnyArray, ElementsAtAnOddAddressAreMovedBeforeTheyAreRead) {
  const auto memory = std::make_shared<const std::string>("x01234567");
  const AnyArray odd{"<f8", {1}, {std::string_view(*memory).substr(1), memory}};
  const AnyArray even = aligned(odd);
  EXPECT_TRUE(even.as<double>());
  EXPECT_EQ(even.data.bytes, "01234567");
}

}  // namespace
}  // namespace px
