#pragma once

#include <functional>
#include <string>
#include <vector>

namespace px::cpp {

/// Whether `#include <name>` would find a file.
using HasHeader = std::function<bool(const std::string& name)>;

/// What a user may do about an error or a warning of the compiler; "" where there is nothing to
/// add. message  without its place.  code  the line of code that it is about; may be "".
std::string hint_for(const std::string& message, int line, const std::string& code,
                     const HasHeader& has_header);

/// The same for an error in the parameters or before the name of a function that is written without
/// what it returns: `average(double a) { ... }`; "" where `code` has no such function.
/// column  of the error; the first one is 1.
std::string hint_for_head(const std::string& code, int column);

/// What may define these symbols, readable ones as the linker has not found them; "" if unknown.
std::string hint_for_symbols(const std::vector<std::string>& symbols);

}  // namespace px::cpp
