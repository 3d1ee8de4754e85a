#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace px::cpp {

/// The header of the standard library in which a name of std is; "" where that is not known.
std::string_view header_of(std::string_view name);

/// The names of the standard library's headers.
const std::vector<std::string>& standard_headers();

/// What it takes to use a header or a symbol of a well-known library.
struct KnownLibrary {
  std::string_view what;    ///< How the header's path, or the symbol, begins.
  std::string_view advice;  ///< "`%pkg eigen3` finds it once ..."
};
/// Null where none is known.
const KnownLibrary* library_of_header(std::string_view path);
const KnownLibrary* library_of_symbol(std::string_view symbol);

}  // namespace px::cpp
