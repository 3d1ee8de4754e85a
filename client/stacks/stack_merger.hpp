#pragma once

#include <string>
#include <vector>

#include "client/stacks/engine_stacks.hpp"

namespace px::client {

/// Threads, of one engine or of several, whose stacks are equal as far as people care: the same
/// lines of Python or of cells, which have called the same native function. Deeper native calls may
/// differ, as those of ranks that wait in one call of MPI do at any moment.
struct StackGroup {
  std::vector<EnginePlace> places = {};     ///< One for each engine, in the order of their ids.
  std::vector<os::StackFrame> frames = {};  ///< Innermost first: those that all of them share.
  bool goes_on = false;  ///< The innermost one has called further functions, not the same in all.
  std::string why = {};  ///< Why there are no frames, where there should be.
  int threads = 0;       ///< In all engines together.
};

struct MergedStacks {
  /// Of the main threads; the group with the fewest engines first. An engine is in one of them;
  /// those that are idle, do not answer or do not know the question have no frames.
  std::vector<StackGroup> main = {};
  /// Of other threads that run Python or code of cells.
  std::vector<StackGroup> others = {};
  /// Of other threads that run libraries only.
  std::vector<StackGroup> libraries = {};
};

/// The frames of the user's code and of the functions that it has called. The frames of the engine
/// that run the user's code are left out. A C++ cell has the file "cell" or "earlier cell", since
/// each engine numbers its cells itself.
/// frames  of one thread, innermost first.
std::vector<os::StackFrame> frames_of_user(std::vector<os::StackFrame> frames);
/// The file of the cell that runs; empty where none does. Cells with other files are earlier ones.
std::string file_of_cell(const std::vector<os::StackFrame>& frames);
/// Whether the frame is of a cell, in Python or C++.
bool is_of_cell(const os::StackFrame& frame);

/// The stacks of many engines, equal ones once. Pure.
MergedStacks merge_stacks(const std::vector<EngineStacks>& engines);

}  // namespace px::client
