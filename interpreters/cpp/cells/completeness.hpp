#pragma once

#include <string>
#include <string_view>

namespace px::cpp {

/// Whether an editor should ask for more lines. Invalid: no further line can make it right.
enum class Completeness { complete, incomplete, invalid };
Completeness completeness(std::string_view code);

/// The blanks with which the next line of incomplete code begins.
std::string next_indent(std::string_view code);

}  // namespace px::cpp
