#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.hpp"

namespace px::os {

/// The threads whose stacks are wanted.
enum class StackScope {
  all,
  /// The main thread, and only if it runs: blocking calls are not interrupted.
  running_main,
};

/// The kind of a call of a stack.
enum class FrameKind {
  native,  ///< Machine code of a file, or compiled at run time (in this case without a file).
  python,
  cell,  ///< A cell in C++.
};

/// The name in messages: "native", "python" or "cell".
std::string_view name_of(FrameKind kind);

/// One call of a stack. Unknown members are empty or 0.
struct StackFrame {
  FrameKind kind = FrameKind::native;
  std::string function = {};  ///< "solve", "px::solve(double)"
  std::string file = {};      ///< "/usr/lib/libm.so.6", "/home/ann/solver.py", "cell 3"
  int line = 0;               ///< For Python and cells; the first is 1.
  std::uint64_t offset = 0;   ///< For native code without a name: its position in the file.

  bool operator==(const StackFrame&) const = default;
};

/// The stack of one thread at one moment.
struct ThreadFrames {
  int thread = 0;         ///< The kernel's thread id.
  std::string name = {};  ///< The kernel's name for it.
  bool is_main = false;
  std::string state = {};  ///< "running", "waiting", "waiting in the kernel", "stopped"
  std::string why = {};    ///< Why its frames are unknown; otherwise empty.
  std::vector<StackFrame> frames = {};  ///< Innermost first.
};

/// The stacks of the threads of a process, one after the other within a second.
struct ProcessStacks {
  std::string why = {};  ///< Why none is known; otherwise empty.
  std::vector<ThreadFrames> threads = {};
  int hidden = 0;  ///< Threads that block signals, like those of this project and of ZeroMQ.
};

/// The form in messages (docs/protocol.md, "stacks").
Json write_stacks(const ProcessStacks& stacks);
/// Reads that form, whatever its shape.
ProcessStacks read_stacks(const Json& said);

}  // namespace px::os
