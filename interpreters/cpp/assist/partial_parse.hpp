#pragma once

#include <clang/Sema/CodeCompleteConsumer.h>

#include <cstddef>
#include <string>

#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// Receives clang's information about a place in code; see parse_to().
class PlaceReader : public clang::CodeCompleteConsumer {
 public:
  PlaceReader();
  clang::CodeCompletionAllocator& getAllocator() override { return unit_.getAllocator(); }
  clang::CodeCompletionTUInfo& getCodeCompletionTUInfo() override { return unit_; }

 private:
  clang::CodeCompletionTUInfo unit_;
};

/// Parses an unfinished cell up to `cursor` (in bytes) and asks clang what may follow there.
/// Nothing is compiled. Names that earlier cells have defined and the cell defines again before the
/// cursor refer to the cell. In a forked child only: the compiler cannot be used afterwards.
void parse_to(Compiler& compiler, const std::string& code, std::size_t cursor, PlaceReader& reader);

/// The file name of the code in clang while parse_to() works.
const std::string& partial_file();

/// Whether the place is in a cell, including the unfinished one.
bool is_in_cells(Compiler& compiler, clang::SourceLocation location);

}  // namespace px::cpp
