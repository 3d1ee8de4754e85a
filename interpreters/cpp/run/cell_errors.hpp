#pragma once

#include <string>
#include <vector>

#include "interpreters/cpp/compile/compiler_options.hpp"
#include "interpreters/cpp/compile/forked_check.hpp"
#include "interpreters/cpp/guard/cell_outcome.hpp"

// Outcomes of cells that were not run, in words for users.
namespace px::cpp {

/// Of a cell of which no part has run.  name  "DirectiveError".
inline CellOutcome refusal(const std::string& name, const std::string& why) {
  return {CellOutcome::Ending::compile_error, name, why, {name + ": " + why}};
}

/// said  by the compiler.
CellOutcome compile_error(const std::string& said);

/// missing  readable names that nobody defines.
CellOutcome link_error(const std::vector<std::string>& missing);

/// What the check of a cell with these limits has found out. Drops an interrupt that ended it.
CellOutcome outcome_of(const CheckReport& report, const CheckLimits& limits);

}  // namespace px::cpp
