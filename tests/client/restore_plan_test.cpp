#include "client/checkpoints/restore_plan.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace px::client {
namespace {

Json array_entry(const std::string& name, Json shape, const std::string& checksum,
                 bool is_scattered = false, const std::string& type = "numpy.ndarray") {
  return {{"names", Json::array({name})},
          {"kind", "array"},
          {"dtype", "<f8"},
          {"shape", std::move(shape)},
          {"sha256", checksum},
          {"scattered", is_scattered},
          {"file", name + checksum},
          {"types", Json::array({type})}};
}

/// A manifest whose ranks have these entries.
Json manifest_of(const std::vector<Json>& ranks) {
  Json manifest{{"ranks", Json::array()}};
  for (const Json& entries : ranks) manifest["ranks"].push_back({{"variables", entries}});
  return manifest;
}

/// "f1[2:3] f2[0:1]": the parts of the first item of an engine.
std::string parts_of(const RestorePlan& plan, std::size_t engine) {
  std::string text;
  for (const Json& part : plan.items.at(engine).at(0).at("parts")) {
    text += (text.empty() ? "" : " ") + part.at("entry").at("file").get<std::string>();
    if (part.contains("begin"))
      text += "[" + part.at("begin").dump() + ":" + part.at("end").dump() + "]";
  }
  return text;
}

std::string refusal(const Json& manifest, std::size_t engines, const RestoreRequest& request = {}) {
  const auto plan = plan_restore(manifest, engines, request);
  return plan ? "" : plan.error().what;
}

Json scattered_over_three() {
  return manifest_of({Json::array({array_entry("x", {4, 2}, "0", true)}),
                      Json::array({array_entry("x", {3, 2}, "1", true)}),
                      Json::array({array_entry("x", {3, 2}, "2", true)})});
}

TEST(RestorePlan, AsManyEnginesAsRanksGetWhatTheirRanksHad) {
  const auto plan = plan_restore(
      manifest_of({Json::array({array_entry("x", {1}, "0"), array_entry("y", {2}, "0")}),
                   Json::array({array_entry("x", {1}, "1")})}),
      2, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(plan->items[0].size(), 2u);
  EXPECT_EQ(parts_of(*plan, 1), "x1");
}

TEST(RestorePlan, FewerEnginesGetLargerBlocksOfWhatWasScattered) {
  const auto plan = plan_restore(scattered_over_three(), 2, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(parts_of(*plan, 0), "x0[0:4] x1[0:1]");
  EXPECT_EQ(parts_of(*plan, 1), "x1[1:3] x2[0:3]");
  EXPECT_EQ(plan->scattered, std::vector<std::string>{"x"});
}

TEST(RestorePlan, MoreEnginesThanItemsGetEmptyBlocks) {
  const auto plan = plan_restore(scattered_over_three(), 12, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(parts_of(*plan, 0), "x0[0:1]");
  EXPECT_EQ(parts_of(*plan, 9), "x2[2:3]");
  EXPECT_EQ(parts_of(*plan, 11), "x0[0:0]");
}

TEST(RestorePlan, ARankWithoutItemsHasItsPlaceBetweenTheOthers) {
  const auto plan = plan_restore(manifest_of({Json::array({array_entry("x", {1}, "0", true)}),
                                              Json::array({array_entry("x", {0}, "1", true)}),
                                              Json::array({array_entry("x", {1}, "2", true)})}),
                                 1, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(parts_of(*plan, 0), "x0[0:1] x2[0:1]");
}

TEST(RestorePlan, WhatIsTheSameOnAllRanksIsCopied) {
  const auto plan = plan_restore(manifest_of({Json::array({array_entry("x", {9}, "same")}),
                                              Json::array({array_entry("x", {9}, "same")})}),
                                 3, {});
  ASSERT_TRUE(plan);
  for (std::size_t engine = 0; engine < 3; ++engine) EXPECT_EQ(parts_of(*plan, engine), "xsame");
}

TEST(RestorePlan, FunctionsAndClassesAreTheSameOnAllRanks) {
  const auto plan =
      plan_restore(manifest_of({Json::array({array_entry("f", {}, "0", false, "function")}),
                                Json::array({array_entry("f", {}, "1", false, "function")})}),
                   1, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(parts_of(*plan, 0), "f0");
}

TEST(RestorePlan, OtherNumbersOfEnginesRefuseWhatDiffersAndNameIt) {
  const Json manifest =
      manifest_of({Json::array({array_entry("x", {9}, "0"), array_entry("y", {9}, "0")}),
                   Json::array({array_entry("x", {9}, "1"), array_entry("y", {9}, "1")})});
  EXPECT_EQ(refusal(manifest, 3),
            "the checkpoint of 2 ranks cannot be restored into 3: x, y (its values differ between "
            "the ranks and it is not scattered). List variables that are blocks of one array in "
            "scattered, name only the other variables, or use 2 engines");
  EXPECT_EQ(refusal(manifest, 3, {{}, {"x", "y"}}), "");
}

TEST(RestorePlan, BlocksOfDifferentWidthAreRefused) {
  const Json manifest = manifest_of({Json::array({array_entry("x", {9, 2}, "0", true)}),
                                     Json::array({array_entry("x", {9, 3}, "1", true)})});
  EXPECT_NE(refusal(manifest, 3).find("beyond the first dimension"), std::string::npos);
}

TEST(RestorePlan, WhatARankLacksIsRefusedForAnotherNumberOfEngines) {
  const Json manifest =
      manifest_of({Json::array({array_entry("x", {9}, "0", true)}), Json::array()});
  EXPECT_NE(refusal(manifest, 1).find("x (not all ranks have it)"), std::string::npos);
  EXPECT_EQ(refusal(manifest, 2), "");
}

TEST(RestorePlan, AnUnknownNameIsAnErrorThatNamesTheNearest) {
  EXPECT_EQ(refusal(scattered_over_three(), 3, {{{"field", "fields"}}, {}}),
            "the checkpoint has no variable 'field'; it has x");
  const Json manifest = manifest_of({Json::array({array_entry("field", {9}, "0")})});
  EXPECT_EQ(refusal(manifest, 1, {{{"feild"}}, {}}),
            "the checkpoint has no variable 'feild'; did you mean field?; it has field");
}

TEST(RestorePlan, AMalformedManifestIsAnError) {
  EXPECT_NE(refusal(Json::object(), 3).find("malformed"), std::string::npos);
  EXPECT_NE(refusal({{"ranks", Json::array({1})}}, 3).find("malformed"), std::string::npos);
}

}  // namespace
}  // namespace px::client
