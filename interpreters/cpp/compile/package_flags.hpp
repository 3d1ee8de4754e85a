#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px::cpp {

/// What a package needs, as pkg-config knows it.
struct PackageFlags {
  std::vector<std::string> include_folders = {};
  std::vector<std::string> libraries = {};  ///< Paths where there is one, names ("m") else.
  std::string definitions = {};             ///< #define lines
};

/// Reads "-I... -D... -L... -l..."; looks for the libraries in the folders that -L names.
PackageFlags read_package_flags(std::string_view text);

/// errors  bad_input: no name of a package; not_found: pkg-config's own words; unsupported: there
///         is no pkg-config.
Result<PackageFlags> ask_pkg_config(const std::string& name);

}  // namespace px::cpp
