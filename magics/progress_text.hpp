#pragma once

#include <string>
#include <vector>

#include "magics/cell_output.hpp"

namespace px::magics {

/// The progress of a cell for a terminal: the lines that engines rewrite, followed by "[#####-----]
/// 2/4 engines done, 0:05". None if there is nothing to show.
std::vector<std::string> progress_lines(const ShowProgress& progress);

/// The progress for a notebook: MIME types and their texts. Empty if there is nothing to show:
/// empty text would take up a line.
Json progress_data(const ShowProgress& progress);

}  // namespace px::magics
