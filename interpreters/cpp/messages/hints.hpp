#pragma once

#include <functional>
#include <string>
#include <vector>

namespace px::cpp {

/// Whether `#include <name>` would find a file.
using HasHeader = std::function<bool(const std::string& name)>;

/// The advice for an error or a warning of the compiler; "" if there is none.
/// message  without its position.  code  the line of code that it concerns; may be "".
std::string hint_for(const std::string& message, int line, const std::string& code,
                     const HasHeader& has_header);

/// Like hint_for(), for an error in the parameters or before the name of a function without a
/// return type: `average(double a) { ... }`; "" if `code` has no such function.
/// column  of the error; the first one is 1.
std::string hint_for_head(const std::string& code, int column);

/// The library that may define these symbols, which are readable because the linker has not found
/// them; "" if unknown.
std::string hint_for_symbols(const std::vector<std::string>& symbols);

}  // namespace px::cpp
