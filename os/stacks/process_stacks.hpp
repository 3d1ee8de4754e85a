#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.hpp"

namespace px::os {

/// Of which threads stacks are wanted.
enum class StackScope {
  all,
  /// Of the main thread, and only if it runs: no call that waits returns early by it.
  running_main,
};

/// What a call of a stack is a call of.
enum class FrameKind {
  native,  ///< Machine code of a file, or compiled at run time (then without a file).
  python,
  cell,  ///< A cell in C++.
};

/// As it travels: "native", "python" or "cell".
std::string_view name_of(FrameKind kind);

/// One call of a stack. What is not known is empty or 0.
struct StackFrame {
  FrameKind kind = FrameKind::native;
  std::string function = {};  ///< "solve", "px::solve(double)"
  std::string file = {};      ///< "/usr/lib/libm.so.6", "/home/ann/solver.py", "cell 3"
  int line = 0;               ///< Of Python and of cells; the first is 1.
  std::uint64_t offset = 0;   ///< Of native code without a name: where it is in its file.

  bool operator==(const StackFrame&) const = default;
};

/// The stack of one thread at one moment.
struct ThreadFrames {
  int thread = 0;         ///< As the kernel numbers it.
  std::string name = {};  ///< The kernel's name of it.
  bool is_main = false;
  std::string state = {};  ///< "running", "waiting", "waiting in the kernel", "stopped"
  std::string why = {};    ///< Why its frames are not known; else empty.
  std::vector<StackFrame> frames = {};  ///< Innermost first.
};

/// The stacks of the threads of a process, one after the other within a second.
struct ProcessStacks {
  std::string why = {};  ///< Why none is known; else empty.
  std::vector<ThreadFrames> threads = {};
  int hidden = 0;  ///< Threads that block signals, as those of this project and of ZeroMQ do.
};

/// As it travels (docs/protocol.md, "stacks").
Json write_stacks(const ProcessStacks& stacks);
/// Reads that, whatever its shape.
ProcessStacks read_stacks(const Json& said);

}  // namespace px::os
