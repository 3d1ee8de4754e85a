#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/stacks/process_stacks.hpp"

namespace px::engine {

/// Reads the output of Python's faulthandler for one thread: its frames, innermost first. Skips
/// unknown lines, such as the headline.
std::vector<os::StackFrame> read_python_frames(std::string_view written);

/// The stack of a thread that runs Python: the native calls of its innermost Python function,
/// followed by its Python functions. Calls of the interpreter, and all native calls between two
/// Python functions, are left out.
/// native       all native calls, innermost first.
/// python       empty: no Python function runs, and the native calls are the stack.
/// interpreter  the file of Python's own code.
std::vector<os::StackFrame> join_frames(std::vector<os::StackFrame> native,
                                        const std::vector<os::StackFrame>& python,
                                        const std::string& interpreter);

}  // namespace px::engine
