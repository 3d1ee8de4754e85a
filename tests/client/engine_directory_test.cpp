#include "client/requests/engine_directory.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

const EngineUuid ann{"ann"}, bob{"bob"};

TEST(EngineDirectory, KnowsWhoIsThereAndRemembersWhoWas) {
  EngineDirectory engines;
  EXPECT_TRUE(engines.add(EngineId{0}, ann));
  EXPECT_FALSE(engines.add(EngineId{0}, ann));
  EXPECT_TRUE(engines.remove(ann));
  EXPECT_FALSE(engines.remove(ann));
  EXPECT_EQ(engines.size(), 0U);
  EXPECT_EQ(engines.id_of("ann"), EngineId{0});
}

TEST(EngineDirectory, TellsWhatAnEngineSpeaksWhereTheControllerSaysIt) {
  EngineDirectory engines;
  engines.add(EngineId{0}, ann, "cpp");
  engines.add(EngineId{1}, bob);
  EXPECT_EQ(engines.language_of(EngineId{0}), "cpp");
  EXPECT_EQ(engines.language_of(EngineId{1}), std::nullopt);
  engines.remove(ann);
  EXPECT_EQ(engines.language_of(EngineId{0}), std::nullopt);
}

TEST(EngineDirectory, SaysWhatEnginesSpeakBesidePython) {
  EngineDirectory engines;
  engines.add(EngineId{0}, ann, "python");
  EXPECT_TRUE(engines.other_languages({EngineId{0}}).empty());
  engines.add(EngineId{1}, bob, "cpp");
  engines.add(EngineId{2}, EngineUuid{"cid"}, "");
  engines.add(EngineId{3}, EngineUuid{"dan"});
  EXPECT_TRUE(engines.other_languages({EngineId{0}, EngineId{3}}).empty());
  EXPECT_EQ(engines.other_languages({EngineId{0}, EngineId{1}, EngineId{2}}),
            (std::vector<std::string>{"cpp", ""}));
  EXPECT_EQ(engines.engines_of_ipyparallel(), std::vector{EngineId{2}});
}

TEST(EngineDirectory, ForgetsWhatAnEngineSpokeThatLeft) {
  EngineDirectory engines;
  engines.add(EngineId{2}, ann, "cpp");
  engines.add(EngineId{1}, bob, "");
  engines.add(EngineId{0}, EngineUuid{"cid"}, "cpp");
  EXPECT_EQ(engines.ids(), (std::vector{EngineId{0}, EngineId{1}, EngineId{2}}));
  EXPECT_EQ(engines.other_languages(), (std::vector<std::string>{"", "cpp"}));
  engines.remove(ann);
  EXPECT_EQ(engines.other_languages(), (std::vector<std::string>{"", "cpp"}));
  engines.remove(bob);
  EXPECT_EQ(engines.other_languages(), std::vector<std::string>{"cpp"});
  EXPECT_TRUE(engines.engines_of_ipyparallel().empty());
  EXPECT_EQ(engines.ids(), std::vector{EngineId{0}});
}

TEST(EngineDirectory, AnEngineOfWhichMoreIsSaidLaterSpeaksThat) {
  EngineDirectory engines;
  engines.add(EngineId{0}, ann, "");
  EXPECT_FALSE(engines.add(EngineId{0}, ann, "python"));
  EXPECT_TRUE(engines.other_languages().empty());
  EXPECT_TRUE(engines.engines_of_ipyparallel().empty());
  EXPECT_EQ(engines.ids().size(), 1U);
}

TEST(EngineDirectory, AnIdThatIsGivenAgainHasTheLanguageOfItsNewEngine) {
  EngineDirectory engines;
  engines.add(EngineId{0}, ann, "cpp");
  engines.remove(ann);
  engines.add(EngineId{0}, bob, "");
  EXPECT_EQ(engines.language_of(EngineId{0}), "");
}

TEST(EngineDirectory, KnowsWhichMemoryAnEngineSharesAsLongAsItIsThere) {
  EngineDirectory engines;
  engines.add(EngineId{0}, EngineUuid{"ann"}, "python", "east");
  engines.add(EngineId{1}, EngineUuid{"bob"}, "python");
  EXPECT_EQ(engines.memory_of(EngineId{0}), "east");
  EXPECT_EQ(engines.memory_of(EngineId{1}), "");
  engines.remove(EngineUuid{"ann"});
  EXPECT_EQ(engines.memory_of(EngineId{0}), "");
}

TEST(EngineDirectory, KnowsAmongWhichEnginesOneCanPassArraysOn) {
  EngineDirectory engines;
  engines.add(EngineId{0}, EngineUuid{"ann"}, "python", "east", "world/3");
  ASSERT_TRUE(engines.passing_of(EngineId{0}));
  EXPECT_EQ(engines.passing_of(EngineId{0})->group, "world");
  EXPECT_EQ(engines.passing_of(EngineId{0})->rank, Rank{3});
  for (const char* none : {"", "/3", "world", "world/", "world/-1", "world/x"}) {
    engines.add(EngineId{1}, EngineUuid{"bob"}, "python", "east", none);
    EXPECT_FALSE(engines.passing_of(EngineId{1})) << none;
  }
  EXPECT_FALSE(engines.passing_of(EngineId{2}));
}

}  // namespace
}  // namespace px::client
