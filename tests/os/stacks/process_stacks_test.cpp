#include "os/stacks/process_stacks.hpp"

#include <gtest/gtest.h>

namespace px::os {
namespace {

TEST(ProcessStacks, ArriveAsTheyWereSent) {
  const ProcessStacks sent{
      .threads = {{.thread = 7,
                   .name = "python3",
                   .is_main = true,
                   .state = "running",
                   .frames = {{.function = "spin", .file = "/x/libspin.so"},
                              {.file = "/usr/lib/libm.so.6", .offset = 0x3c0},
                              {.kind = FrameKind::python,
                               .function = "solve",
                               .file = "solver.py",
                               .line = 12},
                              {.kind = FrameKind::cell, .file = "cell 3", .line = 2}}},
                  {.thread = 8, .state = "waiting in the kernel", .why = "no answer"}},
      .hidden = 3};
  const ProcessStacks got = read_stacks(write_stacks(sent));
  EXPECT_EQ(got.hidden, 3);
  ASSERT_EQ(got.threads.size(), 2U);
  EXPECT_EQ(got.threads[0].frames, sent.threads[0].frames);
  EXPECT_EQ(got.threads[0].name, "python3");
  EXPECT_TRUE(got.threads[0].is_main);
  EXPECT_EQ(got.threads[1].why, "no answer");
}

TEST(ProcessStacks, TheReasonForNoneArrives) {
  EXPECT_EQ(read_stacks(write_stacks({.why = "a disk"})).why, "a disk");
}

TEST(ProcessStacks, OfAnyShapeAreRead) {
  for (const char* text : {"null", "7", "{\"threads\": 1}", "{\"threads\": [1, null, {}]}",
                           "{\"threads\": [{\"frames\": [{\"line\": \"x\", \"kind\": 7}, 3]}]}"})
    EXPECT_TRUE(read_stacks(Json::parse(text)).why.empty()) << text;
  const Json odd{{"threads", {{{"thread", 1e300}, {"frames", {{{"line", 1e300}}}}}}}};
  EXPECT_EQ(read_stacks(odd).threads.at(0).frames.at(0), StackFrame{});
}

}  // namespace
}  // namespace px::os
