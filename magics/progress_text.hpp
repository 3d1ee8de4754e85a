#pragma once

#include <string>

#include "magics/cell_output.hpp"

namespace px::magics {

/// How far a cell is, for one line of a terminal: "[#####-----] 2/4 engines done, 0:05", or the
/// last of the lines that engines rewrite.
std::string progress_line(const ShowProgress& progress);

/// The same with all of its lines, as what a notebook displays: MIME types and their texts. None at
/// all where there is nothing to show: empty text would take up a line.
Json progress_data(const ShowProgress& progress);

}  // namespace px::magics
