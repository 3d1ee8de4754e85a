#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/connection/comm_relay.hpp"
#include "magics/cell_output.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// "0-3,7": engines in a label, ascending; three and more in a row as a range.
std::string short_names(const std::vector<EngineId>& engines);

/// "[stdout:0]", "[stderr:0]", of several engines "[0-3]", "[stderr:0-3]".
std::string stream_label(bool is_error, const std::vector<EngineId>& engines);

/// Text as a person reads it: without terminal colours.
std::string without_colours(std::string_view text);

/// What stands before a display: "[output:0]", of several engines "[output:0-3]".
std::string output_label(const std::vector<EngineId>& engines);
/// What stands before the value of a cell: "Out[0:1]:" with the number of the cell there, of
/// several engines "Out[0-3]:"; without colours.
std::string value_label(const std::vector<EngineId>& engines, long long count);
/// A text in a colour of terminals.
std::string red(std::string_view text);
std::string green(std::string_view text);
/// Something that only has text.
ShowData text_only(std::string text);

/// A display of an engine as one of ours: its engine in the metadata, an id that is its own.
ShowData relabelled(ShowData data, EngineId engine);
/// The value of a cell with its label, "Out[0:1]: 42", as text or below the label. Equal values of
/// several engines: "Out[0-3]: 42".
std::vector<ShowData> labelled_value(const std::vector<EngineId>& engines, long long count,
                                     Json data, Json metadata);
/// Says in the metadata of something shown whose it is: "engine", of several "engines".
void name_engines_in(Json& metadata, const std::vector<EngineId>& engines);

/// What an engine printed or showed while it served a message of a widget, with its label: text
/// begins with "[stdout:0] ", a display has its engine in its metadata and an id of its own. All
/// else stays as it is. Pure.
client::CommNews labelled(client::CommNews news);

}  // namespace px::magics
