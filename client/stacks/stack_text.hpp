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
/// cell  the file of the cell that runs; frames in the files of other cells are shown as frames of
///       earlier cells.
FrameText frame_text(const os::StackFrame& frame, const std::string& cell);

/// Returns the innermost calls of the main thread as short text: "inner_loop() of libsolve.so,
/// called by solve_block()", "step() at cell 3 line 2". The text is empty if the stack of this
/// thread is unknown.
std::string innermost_calls(const os::ProcessStacks& stacks);

/// Returns the merged stacks as lines of text. Each group has the sentences of fold_places() about
/// its engines, and then its calls, the innermost call first. The smallest groups come first.
/// patience       the time that the engines had for their answer.
/// has_libraries  whether to include threads that run only libraries; if not, the text gives only
///                the number of these threads.
std::vector<std::string> describe_stacks(const MergedStacks& merged, Duration patience,
                                         bool has_libraries);

}  // namespace px::client
