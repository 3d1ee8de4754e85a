#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px::cpp {

/// The requirements of a package, according to pkg-config.
struct PackageFlags {
  std::vector<std::string> include_folders = {};
  std::vector<std::string> libraries = {};  ///< Paths if known, otherwise names ("m").
  std::string definitions = {};             ///< #define lines
};

/// Reads "-I... -D... -L... -l..."; searches for the libraries in the folders that -L names.
PackageFlags read_package_flags(std::string_view text);

/// errors  bad_input: not the name of a package; not_found: pkg-config's message; unsupported:
///         there is no pkg-config.
Result<PackageFlags> ask_pkg_config(const std::string& name);

}  // namespace px::cpp
