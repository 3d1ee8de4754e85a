#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "interpreters/cpp/guard/cell_outcome.hpp"

namespace px::cpp {

/// A call in the code of a cell, or in code that was inlined there.
struct CellCall {
  std::string function;  ///< "total(double*)"; empty: it was inlined, or is a statement outside of
                         ///< functions.
  CellLine line;         ///< Its cell is empty if no line is known.
};

/// The calls of cells at each of these addresses, innermost first; none if there is no cell's code.
/// According to the latest session. Any thread, also while a cell runs.
std::vector<std::vector<CellCall>> calls_in_cells(std::span<const std::uintptr_t> calls);

}  // namespace px::cpp
