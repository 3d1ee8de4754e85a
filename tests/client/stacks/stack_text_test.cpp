#include "client/stacks/stack_text.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

using namespace std::chrono_literals;
using os::FrameKind;
using os::StackFrame;
using Lines = std::vector<std::string>;

EnginePlace spinning(int id) {
  return {.id = EngineId{id},
          .state = EnginePlace::State::busy,
          .runs = "solve(A)",
          .seconds = 42,
          .holds_lock = true};
}

StackFrame python(const std::string& function, const std::string& file, int line) {
  return {.kind = FrameKind::python, .function = function, .file = file, .line = line};
}

TEST(StackText, AGroupIsASentenceAndItsCalls) {
  const MergedStacks merged{
      .main = {{.places = {spinning(3)},
                .frames = {{.function = "spin", .file = "/x/libspin.so"},
                           {.file = "/usr/lib/libffi.so.8", .offset = 0x7a4e},
                           {},
                           python("solve", "/home/ann/solver.py", 12),
                           python("helper", "<ipython-input-1>", 2),
                           python("<module>", "<ipython-input-2>", 9)}},
               {.places = {{.id = EngineId{0}, .state = EnginePlace::State::idle},
                           {.id = EngineId{1}, .state = EnginePlace::State::idle}}}}};
  EXPECT_EQ(
      describe_stacks(merged, 3s, false),
      (Lines{"3 in C code that holds Python's lock for 42 s (solve(A))",
             "    spin                              libspin.so", "    libffi.so.8+0x7a4e",
             "    code compiled at run time", "    solve                             solver.py:12",
             "    helper                            line 2 of an earlier cell",
             "    <module>                          cell line 9", "0 and 1 idle"}));
}

/// Of a process whose main thread has these calls.
std::string innermost(std::vector<StackFrame> frames) {
  return innermost_calls({.threads = {{.thread = 8, .frames = {{.function = "other"}}},
                                      {.thread = 7, .is_main = true, .frames = frames}}});
}

TEST(StackText, TheInnermostCallsAreNamedInAFewWords) {
  EXPECT_EQ(innermost({{.function = "inner_loop", .file = "/x/libsolve.so"},
                       {.function = "solve(double)", .file = "/x/libsolve.so"},
                       python("<module>", "<ipython-input-2>", 9)}),
            "inner_loop() of libsolve.so, called by solve(double) of libsolve.so");
  EXPECT_EQ(innermost({{.file = "/usr/lib/libffi.so.8", .offset = 0x7a4e},
                       python("<module>", "<ipython-input-2>", 9)}),
            "libffi.so.8+0x7a4e, called by cell line 9");
  EXPECT_EQ(innermost({{FrameKind::cell, "step", "cell 3", 2}, {FrameKind::cell, "", "cell 3", 5}}),
            "step() at cell line 2, called by cell line 5");
  EXPECT_EQ(innermost({{.kind = FrameKind::cell, .function = "code of cell 3"}}), "code of cell 3");
  EXPECT_EQ(innermost({}), "");
  EXPECT_EQ(innermost_calls({.why = "a disk"}), "");
}

TEST(StackText, CallsOfCellsInCppHaveTheirLines) {
  const MergedStacks merged{
      .main = {{.places = {{.id = EngineId{0}, .state = EnginePlace::State::busy, .seconds = 3}},
                .frames = {{FrameKind::cell, "total", "cell 2", 4},
                           {FrameKind::cell, "", "cell 3", 1},
                           {.kind = FrameKind::cell, .function = "code of cell 3"}},
                .goes_on = true}}};
  EXPECT_EQ(describe_stacks(merged, 3s, false),
            (Lines{"0 busy for 3 s", "    ... (in different functions)",
                   "    total                             line 4 of an earlier cell",
                   "    <statement>                       cell line 1", "    code of cell 3"}));
}

TEST(StackText, EnginesThatDoNotAnswerAreNamed) {
  const MergedStacks merged{
      .main = {{.places = {{.id = EngineId{4}, .state = EnginePlace::State::no_answer}}},
               {.places = {spinning(5)}, .why = "a disk"}}};
  EXPECT_EQ(
      describe_stacks(merged, 3s, false),
      (Lines{"4 did not answer within 3 s",
             "5 in C code that holds Python's lock for 42 s (solve(A))", "    no stack: a disk"}));
}

TEST(StackText, ThreadsOfLibrariesAreCountedUnlessTheyAreAskedFor) {
  const StackGroup pool{.places = {spinning(0), spinning(1)},
                        .frames = {{.function = "futex_wait", .file = "/lib/libc.so.6"}},
                        .threads = 8};
  const MergedStacks merged{
      .others = {{.places = {spinning(1)}, .frames = {python("work", "a.py", 3)}, .threads = 1}},
      .libraries = {pool}};
  const std::string user = "1: 1 thread besides the main thread",
                    work = "    work                              a.py:3";
  EXPECT_EQ(describe_stacks(merged, 3s, false),
            (Lines{user, work, "8 threads of libraries not shown (--libraries)"}));
  EXPECT_EQ(describe_stacks(merged, 3s, true),
            (Lines{user, work, "0 and 1: 8 threads of libraries",
                   "    futex_wait                        libc.so.6"}));
}

TEST(StackText, OfADeepStackTheMiddleIsLeftOut) {
  StackGroup deep{.places = {spinning(0)}};
  for (int i = 0; i < 100; ++i) deep.frames.push_back(python("f", "a.py", i));
  const Lines lines = describe_stacks({.main = {deep}}, 3s, false);
  ASSERT_EQ(lines.size(), 42U);
  EXPECT_TRUE(lines[20].ends_with("a.py:19"));
  EXPECT_EQ(lines[21], "    ... (60 more calls)");
  EXPECT_TRUE(lines[22].ends_with("a.py:80"));
  EXPECT_TRUE(lines[41].ends_with("a.py:99"));
}

}  // namespace
}  // namespace px::client
