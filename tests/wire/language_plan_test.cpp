#include "wire/language_plan.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

std::string languages(std::string_view text, int engines) {
  const Result<LanguagePlan> plan = LanguagePlan::parse(text);
  if (!plan) return plan.error().what;
  std::string all;
  for (int i = 0; i < engines; ++i) {
    const Result<Language> language = plan->of(i);
    all += language ? std::string(name_of(*language)) : "none";
    all += ' ';
  }
  return all;
}

TEST(LanguagePlan, OneLanguageIsForAnyNumberOfEngines) {
  EXPECT_EQ(languages("python", 2), "python python ");
  EXPECT_EQ(languages("cpp", 2), "cpp cpp ");
  EXPECT_EQ(languages("c++", 1), "cpp ");
  EXPECT_EQ(LanguagePlan::parse("cpp")->count(), std::nullopt);
  EXPECT_TRUE(LanguagePlan::parse("cpp")->check_count(100));
}

TEST(LanguagePlan, AMixedClusterGoesByRank) {
  EXPECT_EQ(languages("python:2,cpp:1", 4), "python python cpp none ");
  EXPECT_EQ(languages("cpp:1,python:1,cpp:1", 3), "cpp python cpp ");
  EXPECT_EQ(LanguagePlan::parse("python:2,cpp:3")->count(), 5);
}

TEST(LanguagePlan, TheLastLanguageMayTakeTheRest) {
  EXPECT_EQ(languages("python:1,cpp", 4), "python cpp cpp cpp ");
  EXPECT_EQ(LanguagePlan::parse("python:1,cpp")->count(), std::nullopt);
}

TEST(LanguagePlan, SaysWhatIsWrongAndWhatToWrite) {
  for (const char* text : {"", "julia", "python:", "python:0", "python:-1", "python:x",
                           "python,cpp", "cpp:2,", "cpp:99999999999"}) {
    const Result<LanguagePlan> plan = LanguagePlan::parse(text);
    ASSERT_FALSE(plan) << text;
    EXPECT_NE(plan.error().what.find("python:2,cpp:2"), std::string::npos) << plan.error().what;
  }
}

TEST(LanguagePlan, TheNumbersMustFit) {
  const Result<LanguagePlan> plan = LanguagePlan::parse("python:2,cpp:2");
  EXPECT_TRUE(plan->check_count(4));
  EXPECT_EQ(
      plan->check_count(3).error().what,
      "--language is for 4 engines, but 3 engines were requested: give both the same number, or "
      "leave -n out");
  EXPECT_FALSE(plan->of(4));
}

}  // namespace
}  // namespace px
