#include "wire/nearest_name.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

TEST(EditDistance, CountsInsertedDeletedReplacedAndSwappedLetters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("engines", "engines"), 0U);
  EXPECT_EQ(edit_distance("engine", "engines"), 1U);
  EXPECT_EQ(edit_distance("enngines", "engines"), 1U);
  EXPECT_EQ(edit_distance("engimes", "engines"), 1U);
  EXPECT_EQ(edit_distance("egnines", "engines"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(EditDistance, EditsNoLetterTwice) {
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // not: swap, then insert between the two
}

TEST(EditDistance, IsTheSameInBothDirections) {
  EXPECT_EQ(edit_distance("daemonise", "daemon"), edit_distance("daemon", "daemonise"));
  EXPECT_EQ(edit_distance("strat", "start"), edit_distance("start", "strat"));
}

const std::vector<std::string> names{"n", "ip", "engines", "engine-cmd", "help", "daemonize"};

TEST(NearestName, IsTheOneWithTheFewestEdits) {
  EXPECT_EQ(nearest_name("engine", names), "engines");
  EXPECT_EQ(nearest_name("hlep", names), "help");
  EXPECT_EQ(nearest_name("daemonise", names), "daemonize");
  EXPECT_EQ(nearest_name("enginecmd", names), "engine-cmd");
}

TEST(NearestName, MayLackAThirdOfItsLetters) {
  EXPECT_EQ(nearest_name("daemon", names), "daemonize");
  EXPECT_EQ(nearest_name("daemo", names), std::nullopt);
}

TEST(NearestName, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("frobnicate", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name("engines", {}), std::nullopt);
}

TEST(NearestName, KeepsALetterOfAShortWord) {
  EXPECT_EQ(nearest_name("x", names), std::nullopt);
  EXPECT_EQ(nearest_name("nn", names), "n");
  EXPECT_EQ(nearest_name("p", names), "ip");  // "n" takes one edit as well, but nothing of it stays
}

TEST(NearestName, OfSeveralBeginsLikeTheWord) {
  EXPECT_EQ(nearest_name("tist", {"list", "test", "tilt"}), "tilt");
  EXPECT_EQ(nearest_name("aa", {"ba", "ca"}), "ba");
}

TEST(DidYouMean, EndsASentence) {
  EXPECT_EQ(did_you_mean("engin", names), "; did you mean engines?");
  EXPECT_EQ(did_you_mean("colour", names), "");
}

}  // namespace
}  // namespace px
