#pragma once

#include <string>
#include <vector>

#include "client/stacks/stack_merger.hpp"

namespace px::client {

/// One call of a stack as text for the user: the function and its location.
struct FrameText {
  std::string name;   ///< "solve", "libm.so.6+0x3c0"
  std::string place;  ///< "cell line 3", "solver.py:12", "libm.so.6"; may be empty.
};
/// cell  the file of the cell that runs: other cells are earlier ones.
FrameText frame_text(const os::StackFrame& frame, const std::string& cell);

/// The innermost calls of the main thread, in a few words: "inner_loop() of libsolve.so, called by
/// solve_block()", "step() at cell 3 line 2". Empty: its stack is unknown.
std::string innermost_calls(const os::ProcessStacks& stacks);

/// The merged stacks as lines of text: for each group the sentences of fold_places(), followed
/// by its calls, innermost first. The smallest groups come first.
/// patience       the time that the engines had for their answer.
/// has_libraries  whether to include threads that run only libraries; otherwise their number is
///                given.
std::vector<std::string> describe_stacks(const MergedStacks& merged, Duration patience,
                                         bool has_libraries);

}  // namespace px::client
