#include "client/stacks/stack_merger.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

using os::FrameKind;
using os::StackFrame;
using Frames = std::vector<StackFrame>;

StackFrame native(const std::string& function, const std::string& file = "libmpi.so") {
  return {.function = function, .file = file};
}

StackFrame unnamed(std::uint64_t offset) {
  return {.file = "MPI.so", .offset = offset};
}

StackFrame python(const std::string& function, const std::string& file, int line) {
  return {.kind = FrameKind::python, .function = function, .file = file, .line = line};
}

StackFrame cell(int line) {
  return python("<module>", "<ipython-input-1>", line);
}

const Frames engine_code{python("run_code", "/x/IPython/core/interactiveshell.py", 9),
                         python("execute", "/x/polyxeus/engine/shell.py", 7)};

Frames operator+(Frames inner, const Frames& outer) {
  inner.insert(inner.end(), outer.begin(), outer.end());
  return inner;
}

EngineStacks busy(int id, const Frames& frames) {
  return {{.id = EngineId{id}, .state = EnginePlace::State::busy},
          {.threads = {{.thread = 10 + id, .is_main = true, .frames = frames}}}};
}

EngineStacks in_state(int id, EnginePlace::State state) {
  return {{.id = EngineId{id}, .state = state}, {}};
}

EngineStacks with_thread(EngineStacks engine, const Frames& frames) {
  engine.stacks.threads.push_back({.thread = 99, .frames = frames});
  return engine;
}

/// The engines of each group.
std::vector<std::vector<int>> ids(const std::vector<StackGroup>& groups) {
  std::vector<std::vector<int>> all;
  for (const StackGroup& group : groups) {
    all.emplace_back();
    for (const EnginePlace& place : group.places) all.back().push_back(place.id.value);
  }
  return all;
}

using Ids = std::vector<std::vector<int>>;

TEST(StackMerger, EqualStacksStandOnceAndTheOddOneFirst) {
  const Frames barrier = Frames{native("PMPI_Barrier"), cell(4)} + engine_code;
  const auto merged = merge_stacks(
      {busy(0, barrier), busy(1, barrier), busy(2, Frames{cell(9)}), busy(3, barrier)});
  EXPECT_EQ(ids(merged.main), (Ids{{2}, {0, 1, 3}}));
  EXPECT_EQ(merged.main[0].frames, Frames{cell(9)});
  EXPECT_EQ(merged.main[1].frames, (Frames{native("PMPI_Barrier"), cell(4)}));
  EXPECT_FALSE(merged.main[1].goes_on);
  EXPECT_EQ(merged.main[1].threads, 3);
}

TEST(StackMerger, RanksThatWaitInOneCallAreOneGroupWhateverTheCallDoes) {
  const Frames barrier{native("PMPI_Barrier"), unnamed(0x10), cell(4)};
  const Frames other{native("PMPI_Barrier"), unnamed(0x20), cell(4)};
  const auto merged =
      merge_stacks({busy(0, Frames{native("poll", "libc.so")} + barrier),
                    busy(1, Frames{native("opal_progress")} + other), busy(2, barrier)});
  EXPECT_EQ(ids(merged.main), (Ids{{0, 1, 2}}));
  EXPECT_EQ(merged.main[0].frames, barrier);
  EXPECT_TRUE(merged.main[0].goes_on);
}

TEST(StackMerger, OtherLinesAndOtherFunctionsAreOtherGroups) {
  const auto merged =
      merge_stacks({busy(0, {native("spin"), cell(4)}), busy(1, {native("wait"), cell(4)}),
                    busy(2, {native("spin"), cell(5)}), busy(3, {cell(4)})});
  EXPECT_EQ(ids(merged.main), (Ids{{0}, {1}, {2}, {3}}));
}

TEST(StackMerger, EnginesWithoutAStackAreGroupsOfTheirOwn) {
  using State = EnginePlace::State;
  EngineStacks old = in_state(5, State::busy), deaf = busy(6, {});
  old.stacks.why = "it cannot report stacks";
  deaf.stacks.threads[0].why = "it did not answer a signal";
  const auto merged = merge_stacks({in_state(0, State::idle), in_state(1, State::no_answer),
                                    in_state(2, State::idle), busy(3, {cell(1)}),
                                    in_state(4, State::unknown), old, deaf});
  EXPECT_EQ(ids(merged.main), (Ids{{1}, {3}, {4}, {5}, {6}, {0, 2}}));
  EXPECT_EQ(merged.main[3].why, "it cannot report stacks");
  EXPECT_EQ(merged.main[4].why, "it did not answer a signal");
}

TEST(StackMerger, OfAnIdleEngineNoCallsAreShown) {
  EngineStacks idle = busy(0, {native("poll")});
  idle.place.state = EnginePlace::State::idle;
  EXPECT_TRUE(merge_stacks({idle}).main[0].frames.empty());
}

TEST(StackMerger, OtherThreadsAreSortedByWhetherTheyRunTheUsersCode) {
  const Frames pool{native("futex_wait", "libc.so"), native("blas_thread", "libblas.so")};
  const Frames user = Frames{python("work", "/home/ann/a.py", 3)} +
                      Frames{python("run", "/usr/lib/python3/threading.py", 975)};
  EngineStacks first = with_thread(with_thread(busy(0, {cell(1)}), pool), pool);
  first.place.state = EnginePlace::State::idle;
  const auto merged =
      merge_stacks({with_thread(first, user), with_thread(busy(1, {cell(1)}), pool)});
  EXPECT_EQ(ids(merged.others), (Ids{{0}}));
  EXPECT_EQ(merged.others[0].frames, user);
  EXPECT_EQ(ids(merged.libraries), (Ids{{0, 1}}));
  EXPECT_EQ(merged.libraries[0].threads, 3);
}

TEST(StackMerger, WhatLeadsToTheUsersCodeIsLeftOut) {
  const Frames inner{python("dumps", "/usr/lib/python3/json.py", 4), cell(2),
                     python("f", "<function 7>", 1), cell(9)};
  EXPECT_EQ(frames_of_user(inner + engine_code), inner);
  const Frames function{python("solve", "/home/ann/solver.py", 4)};
  EXPECT_EQ(frames_of_user(function + Frames{engine_code.back()} + function), function);
  const Frames of_cpp{native("sleep"), {.kind = FrameKind::cell, .file = "cell", .line = 1}};
  EXPECT_EQ(frames_of_user(of_cpp + Frames{native("main")}), of_cpp);
}

TEST(StackMerger, CellsInCppAreTheSameWhateverTheirNumberIs) {
  const auto frames = [](const std::string& function, const std::string& running) {
    return Frames{{FrameKind::cell, "f", function, 2}, {FrameKind::cell, "", running, 5}};
  };
  const MergedStacks merged =
      merge_stacks({busy(0, frames("cell 3", "cell 4")), busy(1, frames("cell 7", "cell 9")),
                    busy(2, frames("cell 8", "cell 8"))});
  EXPECT_EQ(ids(merged.main), (Ids{{2}, {0, 1}}));
}

}  // namespace
}  // namespace px::client
