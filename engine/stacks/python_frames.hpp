#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/stacks/process_stacks.hpp"

namespace px::engine {

/// Reads what Python's faulthandler writes of one thread: its frames, innermost first. Lines that
/// it does not know, such as the headline, are passed over.
std::vector<os::StackFrame> read_python_frames(std::string_view written);

/// The stack of a thread that runs Python: the native calls that its innermost Python function has
/// made, then its Python functions. The interpreter's own calls are left out, and all calls between
/// two Python functions are.
/// native       all native calls, innermost first.
/// python       empty: no Python function runs, the native calls are the stack.
/// interpreter  the file of Python's own code.
std::vector<os::StackFrame> join_frames(std::vector<os::StackFrame> native,
                                        const std::vector<os::StackFrame>& python,
                                        const std::string& interpreter);

}  // namespace px::engine
