#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "magics/cell_output.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// The display of one engine, or of several engines if equal, in a grid.
struct Tile {
  std::vector<EngineId> engines;   ///< Ascending.
  std::string label;               ///< Without colours.
  std::vector<ShowData> contents;  ///< One below the other.
};

/// Whether a display can be shown in a grid: an image, HTML.
bool fits_grid(const Json& data);

/// Several tiles side by side, each with its label, as one display: HTML that contains the images,
/// and their texts for front ends that cannot show HTML.
ShowData figure_grid(const std::vector<Tile>& tiles);

/// Text of a terminal as HTML: escaped, its colours kept.
std::string html_of(std::string_view text);

}  // namespace px::magics
