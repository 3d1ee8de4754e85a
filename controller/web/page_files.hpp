#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace px::controller {

/// The files of the page by their names, as made by npm: $POLYXEUS_DASHBOARD, or
/// share/polyxeus/dashboard next to the program's folder, or dashboard/ in the program's folder (a
/// build tree). If there is none, because polyxeus was built without npm: one file that says so.
std::map<std::string, std::string> find_page_files();

/// The files of one folder; nothing if it has no index.html.
std::optional<std::map<std::string, std::string>> read_page_files(
    const std::filesystem::path& folder);

}  // namespace px::controller
