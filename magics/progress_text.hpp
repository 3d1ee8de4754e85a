#pragma once

#include <string>
#include <vector>

#include "magics/cell_output.hpp"

namespace px::magics {

/// How far a cell is, for a terminal: the lines that engines rewrite, then
/// "[#####-----] 2/4 engines done, 0:05". None where there is nothing to show.
std::vector<std::string> progress_lines(const ShowProgress& progress);

/// The same as what a notebook displays: MIME types and their texts. None at all where there is
/// nothing to show: empty text would take up a line.
Json progress_data(const ShowProgress& progress);

}  // namespace px::magics
