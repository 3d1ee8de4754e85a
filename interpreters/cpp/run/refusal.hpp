#pragma once

#include <string>

#include "interpreters/cpp/guard/cell_outcome.hpp"

namespace px::cpp {

/// The outcome of a cell of which no part has run.  name  "DirectiveError".
inline CellOutcome refusal(const std::string& name, const std::string& why) {
  return {CellOutcome::Ending::compile_error, name, why, {name + ": " + why}};
}

}  // namespace px::cpp
