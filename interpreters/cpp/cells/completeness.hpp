#pragma once

#include <string>
#include <string_view>

namespace px::cpp {

/// Whether an editor should ask for more lines. Invalid: input that more lines cannot complete.
enum class Completeness { complete, incomplete, invalid };
Completeness completeness(std::string_view code);

/// The blanks with which the next line of incomplete code begins.
std::string next_indent(std::string_view code);

}  // namespace px::cpp
