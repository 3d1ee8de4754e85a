#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "magics/cell_output.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// "0-3,7": engines in a label, ascending; three and more in a row as a range.
std::string short_names(const std::vector<EngineId>& engines);

/// "[stdout:0]", "[stderr:0]", of several engines "[0-3]", "[stderr:0-3]".
std::string stream_label(bool is_error, const std::vector<EngineId>& engines);

/// Text as a person reads it: without terminal colours.
std::string without_colours(std::string_view text);

/// What stands before a display: "[output:0]".
ShowData output_label(EngineId engine);
/// A display of an engine as one of ours: its engine in the metadata, an id that is its own.
ShowData relabelled(ShowData data, EngineId engine);
/// The value of a cell, "Out[0:1]: 42", as text or below such a label.
std::vector<ShowData> labelled_value(EngineId engine, long long count, Json data, Json metadata);

}  // namespace px::magics
