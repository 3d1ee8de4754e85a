#include "controller/membership/version_check.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

const EngineUuid ann{"ann"}, bob{"bob"}, carl{"carl"};

EngineFacts python(const std::string& version) {
  return {"1.0", version, ""};
}

TEST(VersionCheck, AreNotThereWhileAllSayTheSame) {
  VersionCheck engines{"1.0"};
  engines.learn(EngineId{0}, ann, python("3.11"));
  engines.learn(EngineId{1}, bob, python("3.11"));
  engines.learn(EngineId{2}, carl, {});  // one of ipyparallel
  EXPECT_TRUE(engines.take_news().empty());
}

TEST(VersionCheck, OfTwoPythonsAreToldOnceInOneLine) {
  VersionCheck engines{"1.0"};
  engines.learn(EngineId{0}, ann, python("3.11"));
  engines.learn(EngineId{1}, bob, python("3.9"));
  const auto news = engines.take_news();
  ASSERT_EQ(news.size(), 1u);
  for (const std::string part :
       {"engine 1 runs Python 3.9", "engine 0 runs Python 3.11", "--python"})
    EXPECT_NE(news.front().find(part), std::string::npos) << news.front();
  engines.learn(EngineId{2}, carl, python("3.9"));
  EXPECT_TRUE(engines.take_news().empty());
  EXPECT_EQ(engines.warnings().size(), 1u);
}

TEST(VersionCheck, WhatIsToldLaterIsAdded) {
  VersionCheck engines{"1.0"};
  engines.learn(EngineId{0}, ann, python("3.11"));
  EngineFacts later;
  later.passing = "world/0";
  engines.learn(EngineId{0}, ann, later);
  EXPECT_EQ(engines.facts_of(ann).passing, "world/0");
  EXPECT_EQ(engines.facts_of(ann).python, "3.11");
}

TEST(VersionCheck, AreForgottenWhenTheyLeave) {
  VersionCheck engines{"1.0"};
  engines.learn(EngineId{0}, ann, python("3.11"));
  engines.learn(EngineId{1}, bob, python("3.9"));
  engines.forget(bob);
  EXPECT_TRUE(engines.warnings().empty());
}

TEST(VersionCheck, MayTellTheirMpiLater) {
  VersionCheck engines{"1.0"};
  engines.learn(EngineId{0}, ann, python("3.11"));
  engines.learn(EngineId{1}, bob, python("3.11"));
  engines.learn(EngineId{0}, ann, {"", "", "Open MPI v4.1.4"});
  engines.learn(EngineId{1}, bob, {"", "", "MPICH 4.0"});
  const auto news = engines.take_news();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_NE(news.front().find("engine 1 has loaded MPICH 4.0"), std::string::npos);
  EXPECT_EQ(engines.facts_of(ann).python, "3.11");
}

TEST(VersionCheck, OfAnotherVersionThanTheControllerAreNamed) {
  VersionCheck engines{"1.1"};
  engines.learn(EngineId{0}, ann, python("3.11"));
  engines.learn(EngineId{1}, bob, python("3.11"));
  ASSERT_EQ(engines.take_news().size(), 1u);
  EXPECT_NE(engines.warnings().front().find("polyxeus 1.0"), std::string::npos);
}

TEST(VersionCheck, LearnsThatAnEngineGivesBack) {
  VersionCheck engines{"1.0"};
  EngineFacts facts;
  facts.gives_back = true;
  engines.learn(EngineId{0}, ann, facts);
  EXPECT_TRUE(engines.facts_of(ann).gives_back);
  EXPECT_FALSE(engines.facts_of(bob).gives_back);
}

}  // namespace
}  // namespace px::controller
