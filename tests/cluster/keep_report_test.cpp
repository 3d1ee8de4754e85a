#include "cluster/keep/keep_report.hpp"

#include <gtest/gtest.h>

namespace px::cluster {
namespace {

KeptEngine kept(int id, std::vector<std::string> names) {
  KeptEngine engine;
  engine.id = EngineId{id};
  engine.kept = std::move(names);
  return engine;
}

TEST(KeepReport, NamesEnginesWithTheSameVariablesTogether) {
  const auto text = kept_as_text({kept(0, {"a", "b"}), kept(1, {"a", "b"}), kept(3, {"a"})});
  EXPECT_EQ(text.kept,
            (std::vector<std::string>{"engines 0 and 1 have kept a, b", "engine 3 has kept a"}));
  EXPECT_TRUE(text.lost.empty());
}

TEST(KeepReport, SaysWhatIsLostAndWhyInOneSentenceForEachEngine) {
  KeptEngine engine = kept(2, {"a", "b", "c"});
  lose(engine, "b", "not defined there");
  lose(engine, "c", "not defined there");
  EXPECT_EQ(engine.kept, std::vector<std::string>{"a"});
  EXPECT_EQ(kept_as_text({engine}).lost,
            std::vector<std::string>{"engine 2 has lost b, c (not defined there)"});
}

TEST(KeepReport, AnEngineThatGaveNothingHasLostAllThatWasAskedFor) {
  KeptEngine engine = kept(2, {"a"});
  lose_all(engine, Keep{{"a", "b"}, false}, "it did not answer");
  EXPECT_TRUE(engine.kept.empty());
  EXPECT_EQ(kept_as_text({engine}).lost,
            std::vector<std::string>{"engine 2 has kept nothing: it did not answer"});
  const Json rows = kept_as_json({engine});
  EXPECT_EQ(rows[0]["lost"], (Json{{"a", "it did not answer"}, {"b", "it did not answer"}}));
}

TEST(KeepReport, SaysWhichEngineHasGivenVariables) {
  KeptEngine second = kept(2, {"x", "model"});
  second.from = {{"x", EngineId{0}}, {"model", EngineId{0}}};
  KeptEngine third = second;
  third.id = EngineId{3};
  EXPECT_EQ(
      kept_as_text({kept(0, {"x"}), second, third}).kept,
      (std::vector<std::string>{"engine 0 has kept x",
                                "engines 2 and 3 have x, model of engine 0: their own values are "
                                "lost"}));
  second.from["model"] = EngineId{1};
  EXPECT_EQ(
      kept_as_text({second}).kept,
      std::vector<std::string>{
          "engine 2 has x of engine 0, model of engine 1: its own values are lost"});
  EXPECT_EQ(kept_as_json({second})[0]["from"], (Json{{"x", 0}, {"model", 1}}));
}

TEST(KeepReport, ReadsWhatAnEngineSays) {
  KeptEngine engine = kept(0, {"old"});
  read_kept({{"kept", {"a", "b"}}, {"lost", {{"f", "cannot pickle it"}}}}, engine);
  EXPECT_EQ(engine.kept, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(engine.lost.at("f"), "cannot pickle it");
  read_kept(Json("nonsense"), engine);
  EXPECT_TRUE(engine.kept.empty());
}

}  // namespace
}  // namespace px::cluster
