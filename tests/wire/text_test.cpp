#include "wire/text.hpp"

#include <gtest/gtest.h>

#include <map>

#include "wire/ids.hpp"

namespace px {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Text, IsSplitAtEachSeparator) {
  EXPECT_EQ(split("a,b", ','), (Parts{"a", "b"}));
  EXPECT_EQ(split(",a,", ','), (Parts{"", "a", ""}));
  EXPECT_EQ(split("", ','), Parts{""});
}

TEST(Text, OfSeveralItemsHasASeparatorBetweenEachTwo) {
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(join(Parts{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(std::vector{3, 4}, "-"), "3-4");
}

TEST(Text, OfItemsIsMadeByAFunctionOrAMember) {
  EXPECT_EQ(join(std::vector{EngineId{0}, EngineId{3}}, ", ", &EngineId::value), "0, 3");
  const std::map<std::string, int> counts{{"a", 1}, {"b", 2}};
  EXPECT_EQ(join(counts, ";", [](const auto& item) { return item.first + "="; }), "a=;b=");
}

TEST(Text, OfHtmlHasEntitiesForWhatWouldBeMarkup) {
  EXPECT_EQ(escape_html("a < b && b > c"), "a &lt; b &amp;&amp; b &gt; c");
}

TEST(Text, OfBytesHasTwoDigitsForEach) {
  const std::vector<unsigned char> bytes{0, 9, 0xa0, 0xff};
  EXPECT_EQ(hex_digits(bytes), "0009a0ff");
  EXPECT_EQ(hex_digits({}), "");
}

}  // namespace
}  // namespace px
