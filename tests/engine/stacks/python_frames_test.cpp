#include "engine/stacks/python_frames.hpp"

#include <gtest/gtest.h>

namespace px::engine {
namespace {

using os::FrameKind;
using os::StackFrame;
using Frames = std::vector<StackFrame>;

StackFrame python(const std::string& function, const std::string& file, int line) {
  return {.kind = FrameKind::python, .function = function, .file = file, .line = line};
}

StackFrame native(const std::string& function, const std::string& file) {
  return {.function = function, .file = file};
}

TEST(PythonFrames, WhatFaulthandlerWritesIsRead) {
  EXPECT_EQ(read_python_frames("Stack (most recent call first):\n"
                               "  File \"/home/ann/a \"b\", line 3 in c.py\", line 12 in solve\n"
                               "  File \"<ipython-input-1f6a>\", line 3 in <module>\n"),
            (Frames{python("solve", "/home/ann/a \"b\", line 3 in c.py", 12),
                    python("<module>", "<ipython-input-1f6a>", 3)}));
}

TEST(PythonFrames, WhatIsUnknownOrCutIsLeftOut) {
  EXPECT_EQ(read_python_frames("  File \"a.py\", line ??? in f\n  ...\n  <freed frame>\n"
                               "  File ???, line 3 in g\n  File \"b.py\", li"),
            Frames{python("f", "a.py", 0)});
  EXPECT_EQ(read_python_frames(""), Frames{});
}

TEST(PythonFrames, NativeCallsOfTheInnermostFunctionStandBeforeIt) {
  const Frames called{native("spin", "libspin.so"), native("ffi_call", "libffi.so.8")};
  Frames all = called;
  all.push_back(native("cfunction_call", "/usr/bin/python3"));
  all.push_back(native("callback", "libother.so"));
  all.push_back(native("_PyEval_EvalFrameDefault", "/usr/bin/python3"));
  const Frames of_python{python("solve", "a.py", 1), python("<module>", "a.py", 9)};
  Frames joined = called;
  joined.insert(joined.end(), of_python.begin(), of_python.end());
  EXPECT_EQ(join_frames(all, of_python, "/usr/bin/python3"), joined);
}

TEST(PythonFrames, AThreadWithoutPythonHasItsNativeCalls) {
  const Frames all{native("poll", "libc.so.6"), native("main", "/usr/bin/python3")};
  EXPECT_EQ(join_frames(all, {}, "/usr/bin/python3"), all);
}

}  // namespace
}  // namespace px::engine
