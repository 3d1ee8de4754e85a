#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "interpreters/cpp/guard/cell_outcome.hpp"

namespace px::cpp {

/// A call in the code of a cell, or in what was inlined there.
struct CellCall {
  std::string function;  ///< "total(double*)"; empty: it was inlined, or is a statement outside.
  CellLine line;         ///< Its cell is empty where no line is known.
};

/// The calls of cells at each of these addresses, innermost first; none where no cell's code is. As
/// the session knows them that was made last. Any thread, also while a cell runs.
std::vector<std::vector<CellCall>> calls_in_cells(std::span<const std::uintptr_t> calls);

}  // namespace px::cpp
