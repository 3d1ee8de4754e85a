#include "os/command_words.hpp"

#include <gtest/gtest.h>

namespace px::os {
namespace {

using Words = std::vector<std::string>;

TEST(CommandWords, AreCutAsAShellDoes) {
  EXPECT_EQ(split_words("  a  'b c' \"d 'e'\" f\\ g '' ").words,
            (Words{"a", "b c", "d 'e'", "f g", ""}));
  EXPECT_EQ(split_words("").words, Words{});
}

TEST(CommandWords, KeepBackslashesWhereTheyMeanNothing) {
  EXPECT_EQ(split_words(R"(C:\x 'a\b')", false).words, (Words{R"(C:\x)", R"(a\b)"}));
}

TEST(CommandWords, SayThatAQuoteIsNotClosed) {
  const CommandWords found = split_words("a 'b c");
  EXPECT_EQ(found.open_quote, '\'');
  EXPECT_EQ(found.words, (Words{"a", "b c"}));
  EXPECT_EQ(split_words("'a'").open_quote, 0);
}

}  // namespace
}  // namespace px::os
