#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace px::controller {

/// The files of the page by their names, as npm has made them: $POLYXEUS_DASHBOARD, or
/// share/polyxeus/dashboard beside the program's folder, or dashboard/ in the program's folder (a
/// build tree). Where there is none, as polyxeus was built without npm: one file that says so.
std::map<std::string, std::string> find_page_files();

/// Those of one folder; nothing where it has no index.html.
std::optional<std::map<std::string, std::string>> read_page_files(
    const std::filesystem::path& folder);

}  // namespace px::controller
