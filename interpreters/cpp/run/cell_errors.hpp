#pragma once

#include <string>
#include <vector>

#include "interpreters/cpp/compile/compiler_options.hpp"
#include "interpreters/cpp/compile/forked_check.hpp"
#include "interpreters/cpp/guard/cell_outcome.hpp"

// Outcomes of cells that were not run, as messages for users.
namespace px::cpp {

/// The outcome of a cell of which no part has run.  name  "DirectiveError".
inline CellOutcome refusal(const std::string& name, const std::string& why) {
  return {CellOutcome::Ending::compile_error, name, why, {name + ": " + why}};
}

/// said  the compiler's messages.
CellOutcome compile_error(const std::string& said);

/// missing  readable names that are not defined.
CellOutcome link_error(const std::vector<std::string>& missing);

/// The outcome of the check of a cell with these limits. Drops an interrupt that ended it.
CellOutcome outcome_of(const CheckReport& report, const CheckLimits& limits);

}  // namespace px::cpp
