#pragma once

#include <clang/Sema/CodeCompleteConsumer.h>

#include <cstddef>
#include <string>

#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// Gets what clang says about a place in code; see parse_to().
class PlaceReader : public clang::CodeCompleteConsumer {
 public:
  PlaceReader();
  clang::CodeCompletionAllocator& getAllocator() override { return unit_.getAllocator(); }
  clang::CodeCompletionTUInfo& getCodeCompletionTUInfo() override { return unit_; }

 private:
  clang::CodeCompletionTUInfo unit_;
};

/// Reads a cell that is being written up to `cursor` (in bytes) and asks clang what may stand
/// there. Nothing is compiled. What earlier cells have defined and the cell defines again before
/// the cursor is taken from the cell. In a forked child only: the compiler is of no use afterwards.
void parse_to(Compiler& compiler, const std::string& code, std::size_t cursor, PlaceReader& reader);

/// The name of the file that the code has in clang while parse_to() works.
const std::string& partial_file();

/// Whether the place is in a cell, the one that is being written included.
bool is_in_cells(Compiler& compiler, clang::SourceLocation location);

}  // namespace px::cpp
