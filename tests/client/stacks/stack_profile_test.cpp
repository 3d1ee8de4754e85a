#include "client/stacks/stack_profile.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

EngineStacks running(int id, const std::string& function, int line) {
  return {{.id = EngineId{id}, .state = EnginePlace::State::busy},
          {.threads = {{.is_main = true,
                        .frames = {{.function = "dot", .file = "/x/libblas.so"},
                                   {.kind = os::FrameKind::python,
                                    .function = function,
                                    .file = "/home/ann/a.py",
                                    .line = line}}}}}};
}

EngineStacks idle(int id) {
  return {{.id = EngineId{id}, .state = EnginePlace::State::idle}, {}};
}

TEST(StackProfile, HasOneProfileOfAllEnginesAndOneForEach) {
  StackProfile profile;
  profile.add({running(0, "solve", 3), idle(1)}, 0.1);
  profile.add({running(0, "solve", 3), running(1, "solve", 3)}, 0.2);
  profile.add({running(0, "print", 4), running(1, "solve", 3)}, 0.1);
  const Json made = profile.as_speedscope("run");
  const Json& frames = made["shared"]["frames"];
  const auto name = [&](const Json& number) { return frames[number.get<std::size_t>()]["name"]; };
  ASSERT_EQ(made["profiles"].size(), 3U);
  EXPECT_EQ(made["profiles"][0]["name"], "all engines");
  const Json& first = made["profiles"][1];
  EXPECT_EQ(first["name"], "engine 0");
  ASSERT_EQ(first["samples"].size(), 2U);            // the same again is one sample
  EXPECT_EQ(name(first["samples"][0][0]), "solve");  // the outermost call first
  EXPECT_EQ(name(first["samples"][0][1]), "dot");
  EXPECT_DOUBLE_EQ(first["weights"][0].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(name(first["samples"][1][0]), "print");
  EXPECT_DOUBLE_EQ(first["endValue"].get<double>(), 0.1 + 0.2 + 0.1);
  EXPECT_EQ(name(made["profiles"][2]["samples"][0][0]), "idle");
  EXPECT_NEAR(made["profiles"][0]["endValue"].get<double>(), 0.8, 1e-9);
  EXPECT_EQ(frames[first["samples"][0][0].get<std::size_t>()],
            (Json{{"name", "solve"}, {"file", "/home/ann/a.py"}, {"line", 3}}));
}

std::vector<std::vector<int>> groups_of(const StackProfile& profile) {
  std::vector<std::vector<int>> groups;
  for (const ProfileGroup& group : profile.groups()) {
    std::vector<int>& ids = groups.emplace_back();
    for (const EngineId id : group.engines) ids.push_back(id.value);
  }
  return groups;
}

TEST(StackProfile, EnginesThatSpendTheirTimeInTheSameFunctionsAreAGroup) {
  StackProfile profile;
  for (int i = 0; i < 10; ++i)  // at other lines, and engine 1 waits a little
    profile.add({running(0, "solve", i), i < 2 ? idle(1) : running(1, "solve", 100 + i),
                 i < 4 ? idle(2) : running(2, "solve", 3), running(3, "print", 3)},
                0.1);
  EXPECT_EQ(groups_of(profile), (std::vector<std::vector<int>>{{2}, {3}, {0, 1}}));
  const ProfileGroup group = profile.groups()[2];
  double all = 0;
  for (const auto& [stack, seconds] : group.seconds) all += seconds;
  EXPECT_NEAR(all, 2, 1e-9);
}

TEST(StackProfile, AnEngineThatDoesNotAnswerCountsAsSuch) {
  StackProfile profile;
  profile.add({{{.id = EngineId{0}}, {}}}, 1);
  const Json made = profile.as_speedscope("run");
  EXPECT_EQ(made["shared"]["frames"][0]["name"], "no answer");
}

}  // namespace
}  // namespace px::client
