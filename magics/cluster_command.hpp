#pragma once

#include <string>
#include <vector>

#include "magics/cell_output.hpp"
#include "wire/error.hpp"

namespace px::magics {

/// The command of `%pxcluster`: the program with the words of the line. `start` and `engines` run
/// in the background, because the cell would otherwise last as long as the cluster; profile and
/// cluster id are those of the magics if the line contains none.
/// notebook  "python" or "cpp": the language of the notebook's cells; `start` ends with advice for
///           them.
std::vector<std::string> cluster_command(const std::string& program, std::vector<std::string> words,
                                         const std::string& profile, const std::string& cluster_id,
                                         const std::string& notebook);

/// Runs a program and shows its output while it runs; an interrupt is passed on to it. Returns its
/// exit status.
/// errors  not_found: there is no such program; system.
Result<int> run_program(const std::vector<std::string>& words, CellOutput& screen);

}  // namespace px::magics
