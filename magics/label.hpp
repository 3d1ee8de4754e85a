#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/connection/comm_relay.hpp"
#include "magics/cell_output.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// "0-3,7": engines in a label, ascending; three and more consecutive ones as a range.
std::string short_names(const std::vector<EngineId>& engines);

/// "[stdout:0]", "[stderr:0]", for several engines "[0-3]", "[stderr:0-3]".
std::string stream_label(bool is_error, const std::vector<EngineId>& engines);

/// The text without terminal colours.
std::string without_colours(std::string_view text);

/// The label of a display: "[output:0]", for several engines "[output:0-3]".
std::string output_label(const std::vector<EngineId>& engines);
/// The label of the value of a cell: "Out[0:1]:" with the number of the cell on the engine, for
/// several engines "Out[0-3]:"; without colours.
std::string value_label(const std::vector<EngineId>& engines, long long count);
/// A text in red, for terminals.
std::string red(std::string_view text);
std::string green(std::string_view text);
/// A display that has only text.
ShowData text_only(std::string text);

/// A display of an engine for this notebook: its engine in the metadata, with a separate id.
ShowData relabelled(ShowData data, EngineId engine);
/// The value of a cell with its label, "Out[0:1]: 42", as text or below the label. Equal values of
/// several engines: "Out[0-3]: 42".
std::vector<ShowData> labelled_value(const std::vector<EngineId>& engines, long long count,
                                     Json data, Json metadata);
/// Adds the engines of a display to its metadata: "engine", for several "engines".
void name_engines_in(Json& metadata, const std::vector<EngineId>& engines);

/// Labels the output of an engine during a message of a widget: text begins with "[stdout:0] ", a
/// display has its engine in its metadata and a separate id. All else is unchanged. Pure.
client::CommNews labelled(client::CommNews news);

}  // namespace px::magics
