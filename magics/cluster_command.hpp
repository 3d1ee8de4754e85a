#pragma once

#include <string>
#include <vector>

#include "magics/cell_output.hpp"
#include "wire/error.hpp"

namespace px::magics {

/// What `%pxcluster` runs: the program with the words of the line. `start` and `engines` go to the
/// background, as the cell would not end before the cluster does; profile and cluster id are those
/// of the magics where the line names none.
/// notebook  "python" or "cpp": what the notebook's cells are; `start` ends with advice for them.
std::vector<std::string> cluster_command(const std::string& program, std::vector<std::string> words,
                                         const std::string& profile, const std::string& cluster_id,
                                         const std::string& notebook);

/// Runs a program and shows what it prints while it does; an interrupt goes to it. Its exit status.
/// errors  not_found: there is no such program; system.
Result<int> run_program(const std::vector<std::string>& words, CellOutput& screen);

}  // namespace px::magics
