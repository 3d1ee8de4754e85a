#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/launch/settings.hpp"
#include "net/discovery/profile_paths.hpp"

namespace px::cluster {

/// The settings of a profile, and what the user should know about its files.
struct LoadedSettings {
  Settings settings;
  std::vector<std::string> notes;
};

/// The profile's own file, which pxcluster reads.
std::filesystem::path own_profile_file(const net::ProfilePaths& paths);

/// Lays these over each other, the later winning: the template `default`, the template with the
/// profile's name, the profile's ipcluster_config.json and its pxcluster.json.
/// Files with Python code are named in the notes and left alone.
/// errors  bad_input: names the file and the key; system.
Result<LoadedSettings> load_settings(const net::ProfilePaths& paths,
                                     const std::optional<std::filesystem::path>& templates);

/// The names of the templates, sorted.
std::vector<std::string> template_names(const std::filesystem::path& templates);

/// Creates the profile's folders and its pxcluster.json, a copy of the template.
/// errors  bad_input: no such template (lists them), or the profile has such a file already;
/// system.
Result<void> create_profile(const net::ProfilePaths& paths, const std::string& from,
                            const std::optional<std::filesystem::path>& templates);

}  // namespace px::cluster
