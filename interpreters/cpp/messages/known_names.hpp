#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace px::cpp {

/// The header of the standard library that declares a name of std; "" if unknown.
std::string_view header_of(std::string_view name);

/// The names of the standard library's headers.
const std::vector<std::string>& standard_headers();

/// The requirements of a header or a symbol of a well-known library.
struct KnownLibrary {
  std::string_view what;    ///< The beginning of the header's path, or of the symbol.
  std::string_view advice;  ///< "`%pkg eigen3` finds it once ..."
};
/// Null if none is known.
const KnownLibrary* library_of_header(std::string_view path);
const KnownLibrary* library_of_symbol(std::string_view symbol);

}  // namespace px::cpp
