#include <gtest/gtest.h>

#include "client/targets.hpp"

namespace px::client {
namespace {

std::vector<EngineId> engines(std::initializer_list<int> numbers) {
  std::vector<EngineId> ids;
  for (const int number : numbers) ids.push_back(EngineId{number});
  return ids;
}

std::vector<EngineId> resolved(const char* text, const std::vector<EngineId>& present) {
  const Result<Targets> targets = Targets::parse(text);
  EXPECT_TRUE(targets) << text;
  const auto ids = targets->resolve(present);
  return ids ? *ids : std::vector<EngineId>{};
}

std::string problem(const char* text, const std::vector<EngineId>& present) {
  const Result<Targets> targets = Targets::parse(text);
  if (!targets) return targets.error().what;
  const auto ids = targets->resolve(present);
  return ids ? "" : ids.error().what;
}

TEST(Targets, AreWrittenAsPeopleWriteThem) {
  const auto present = engines({0, 1, 2, 3});
  EXPECT_EQ(resolved("all", present), present);
  EXPECT_EQ(resolved("2", present), engines({2}));
  EXPECT_EQ(resolved("-1", present), engines({3}));
  EXPECT_EQ(resolved("-2", present), engines({2}));
  EXPECT_EQ(resolved("0,2", present), engines({0, 2}));
  EXPECT_EQ(resolved("[3, 0]", present), engines({3, 0}));
  EXPECT_EQ(resolved("1:3", present), engines({1, 2}));
  EXPECT_EQ(resolved("::2", present), engines({0, 2}));
  EXPECT_EQ(resolved("::-1", present), engines({3, 2, 1, 0}));
  EXPECT_EQ(resolved("-2:", present), engines({2, 3}));
  EXPECT_EQ(resolved(":", present), present);
  EXPECT_EQ(resolved("0,2:9", present), engines({0, 2, 3}));
}

TEST(Targets, SlicesArePlacesAndNumbersAreIds) {
  const auto present = engines({2, 5, 7});
  EXPECT_EQ(resolved("0:2", present), engines({2, 5}));
  EXPECT_EQ(resolved("5", present), engines({5}));
  EXPECT_EQ(problem("0", present), "there is no engine 0; there are 2, 5 and 7");
  EXPECT_EQ(problem("0", {EngineId{2}}), "there is no engine 0; there is only 2");
}

TEST(Targets, WhatIsNoneOfThemIsNamed) {
  for (const char* bad : {"x", "", "1,", "1:2:3:4", "a:b", "::0"})
    EXPECT_NE(problem(bad, engines({0})).find("is not a list of engines"), std::string::npos)
        << bad;
}

TEST(Targets, NumbersThatAreTooLargeMeanNoEngine) {
  EXPECT_EQ(problem("4294967296", engines({0})),
            "there is no engine 4294967296: engine ids are at most 2147483647");
  EXPECT_EQ(problem("2147483647", engines({0})), "there is no engine 2147483647; there is only 0");
  EXPECT_NE(problem("0,99999999999999999999", engines({0})), "");
}

TEST(Targets, ASliceMayHaveAnyNumbers) {
  const auto present = engines({0, 1, 2});
  EXPECT_EQ(resolved("1::9223372036854775807", present), engines({1}));
  EXPECT_EQ(resolved("1::-9223372036854775808", present), engines({1}));
  EXPECT_EQ(resolved("-9223372036854775808:9223372036854775807", present), present);
}

TEST(Targets, WithoutEnginesSayHowToStartSome) {
  EXPECT_EQ(problem("all", {}),
            "no engine is registered: start some with `pxcluster engines -n 4`");
}

TEST(Targets, EnginesAreNamedInOneShortText) {
  EXPECT_EQ(name_engines(engines({0, 1, 2, 3, 4, 5, 6, 7})), "0-7");
  EXPECT_EQ(name_engines(engines({0, 1})), "0 and 1");
  EXPECT_EQ(name_engines(engines({0, 2, 3, 4, 9})), "0, 2-4 and 9");
  EXPECT_EQ(name_engines({}), "");
}

}  // namespace
}  // namespace px::client
