#include "client/stacks/flame_graph.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// An engine whose main thread runs <module> > solve() > `function`.
EngineStacks in_solve(int id, const std::string& function) {
  const auto python = [](const std::string& name, int line) {
    return os::StackFrame{os::FrameKind::python, name, "/home/ann/a.py", line};
  };
  return {{.id = EngineId{id}, .state = EnginePlace::State::busy},
          {.threads = {{.is_main = true,
                        .frames = {{.function = function, .file = "/x/libblas.so"},
                                   python("solve", 12),
                                   python("<module>", 90)}}}}};
}

TEST(FlameGraph, ABoxIsAsWideAsItsShareOfTheTime) {
  StackProfile profile;
  profile.add({in_solve(0, "dot")}, 3);
  profile.add({in_solve(0, "norm")}, 1);
  const std::string svg = flame_graph(profile, "run");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 "));
  EXPECT_TRUE(has(svg,
                  "<title>solve (a.py:12): 4.0 s, 100.0 %</title><rect x=\"10.0\" y=\"86.0\" "
                  "width=\"1180.0\""))
      << svg;
  EXPECT_TRUE(has(svg,
                  "<title>dot (libblas.so): 3.0 s, 75.0 %</title><rect x=\"10.0\" y=\"104.0\" "
                  "width=\"885.0\""))
      << svg;
  EXPECT_TRUE(has(svg, "<title>norm (libblas.so): 1.0 s, 25.0 %</title><rect x=\"895.0\""));
  EXPECT_TRUE(has(svg, ">dot (libblas.so)</text>"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(FlameGraph, EachGroupOfEnginesHasItsOwnAndTheOddOneIsFirst) {
  StackProfile profile;
  profile.add({in_solve(0, "dot"), in_solve(1, "dot"), in_solve(2, "wait")}, 1);
  const std::string svg = flame_graph(profile, "run");
  EXPECT_LT(svg.find(">engine 2</text>"), svg.find(">engines 0 and 1</text>"));
  EXPECT_EQ(count(svg, "<title>solve"), 2U);
  EXPECT_TRUE(has(svg, "<title>dot (libblas.so): 2.0 s, 100.0 %</title>")) << "of both together";
}

TEST(FlameGraph, WhatEnginesSaidIsEscaped) {
  StackProfile profile;
  profile.add({in_solve(0, "f<script>alert(\"&\")</script>\x01")}, 1);
  const std::string svg = flame_graph(profile, "<run>");
  EXPECT_FALSE(has(svg, "<script"));
  EXPECT_FALSE(has(svg, "\x01"));
  EXPECT_TRUE(has(svg, "f&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;  (libblas.so): "));
  EXPECT_TRUE(has(svg, ">&lt;run&gt;</text>"));
  EXPECT_TRUE(has(svg, "<title>&lt;module&gt; (a.py:90)"));
}

TEST(FlameGraph, WhatNobodySeesIsLeftOut) {
  StackProfile profile;
  profile.add({in_solve(0, "dot")}, 3000);
  profile.add({in_solve(0, "norm")}, 1);
  EXPECT_FALSE(has(flame_graph(profile, "run"), "norm"));
}

TEST(FlameGraph, ALabelIsCutBetweenCharacters) {
  StackProfile profile;
  std::string name;
  for (int i = 0; i < 200; ++i) name += "\u00e9";
  profile.add({in_solve(0, name)}, 1);
  const std::string svg = flame_graph(profile, "run");
  EXPECT_TRUE(has(svg, "\u00e9..</text>"));
  for (std::size_t i = 0; i + 1 < svg.size(); ++i) {
    const bool begins = svg[i] == '\xc3', goes_on = svg[i + 1] == '\xa9';
    ASSERT_EQ(begins, goes_on) << i;
  }
}

TEST(FlameGraph, OfManyGroupsTheFirstAreDrawn) {
  StackProfile profile;
  std::vector<EngineStacks> engines;
  for (int id = 0; id < 23; ++id) engines.push_back(in_solve(id, "f" + std::to_string(id)));
  profile.add(engines, 1);
  const std::string svg = flame_graph(profile, "run");
  EXPECT_EQ(count(svg, "<title>solve"), 20U);
  EXPECT_TRUE(has(svg, ">3 more groups</text>"));
}

TEST(FlameGraph, WithoutAnySampleItIsEmpty) {
  EXPECT_FALSE(has(flame_graph(StackProfile{}, "run"), "<g>"));
}

}  // namespace
}  // namespace px::client
