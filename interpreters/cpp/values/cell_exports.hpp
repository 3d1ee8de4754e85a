#pragma once

#include <string>
#include <utility>
#include <vector>

namespace px::cpp {

/// The functions that the header of all cells (prelude/px_exports.hpp) declares, by their C names:
/// a session must make them available to cells. They use the installed CellExchange.
std::vector<std::pair<std::string, const void*>> cell_symbols();
/// Those of them that turn values into texts and tables.
std::vector<std::pair<std::string, const void*>> show_symbols();

}  // namespace px::cpp
