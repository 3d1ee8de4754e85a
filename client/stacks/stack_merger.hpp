#pragma once

#include <string>
#include <vector>

#include "client/stacks/engine_stacks.hpp"

namespace px::client {

/// Threads of one or several engines whose stacks are equal for the user. They execute the same
/// lines of Python or of cells, and these lines have called the same native function. The native
/// calls inside this function may differ, as for ranks that wait in the same MPI call.
struct StackGroup {
  std::vector<EnginePlace> places = {};     ///< One for each engine, in the order of their ids.
  std::vector<os::StackFrame> frames = {};  ///< The frames that all of them share, innermost first.
  bool goes_on = false;  ///< Whether the innermost frame has called further functions that differ.
  std::string why = {};  ///< The reason if frames are missing.
  int threads = 0;       ///< The number of threads, in all engines together.
};

struct MergedStacks {
  /// The groups of main threads; the group with the fewest engines first. Each engine is in one of
  /// these groups. Engines that are idle, do not answer or do not support the question have no
  /// frames.
  std::vector<StackGroup> main = {};
  /// The groups of other threads that run Python or code of cells.
  std::vector<StackGroup> others = {};
  /// The groups of other threads that run only libraries.
  std::vector<StackGroup> libraries = {};
};

/// Returns the frames of the user's code and of the functions that the user's code has called. The
/// result omits the outer frames, in which the engine calls the user's code. A C++ cell has the
/// file "cell" or "earlier cell", because each engine numbers its cells itself.
/// frames  of one thread, innermost first.
std::vector<os::StackFrame> frames_of_user(std::vector<os::StackFrame> frames);
/// Returns the file of the cell that runs; empty if no cell runs. Frames of cells with other files
/// belong to earlier cells.
std::string file_of_cell(const std::vector<os::StackFrame>& frames);
/// Whether the frame belongs to a cell, in Python or C++.
bool is_of_cell(const os::StackFrame& frame);

/// Merges the stacks of many engines, so that equal stacks appear once. Pure.
MergedStacks merge_stacks(const std::vector<EngineStacks>& engines);

}  // namespace px::client
