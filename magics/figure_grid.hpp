#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "magics/cell_output.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// What one engine shows, or what several engines show alike, in a grid.
struct Tile {
  std::vector<EngineId> engines;   ///< Ascending.
  std::string label;               ///< Without colours.
  std::vector<ShowData> contents;  ///< Below each other.
};

/// Whether something can stand in a grid as it looks alone: an image, HTML.
bool fits_grid(const Json& data);

/// Several tiles beside each other, each with its label, as one display: HTML with the images in
/// it, and for who cannot show that the text of each.
ShowData figure_grid(const std::vector<Tile>& tiles);

/// Text of a terminal as HTML: escaped, its colours kept.
std::string html_of(std::string_view text);

}  // namespace px::magics
