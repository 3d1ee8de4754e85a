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

/// Which files say how a cluster is to be started.
struct SettingsFiles {
  std::optional<std::filesystem::path> templates;  ///< The folder of the templates.
  std::string config_file;  ///< In place of the profile's ipcluster_config; empty: those.
  bool has_profile = true;  ///< Those of the profile's folder, too.
};

/// Lays these over each other, the later winning: the template `default`, the template with the
/// profile's name, the profile's ipcluster_config.py and ipcluster_config.json or the file in place
/// of these two, and the profile's pxcluster.json.
/// errors  bad_input: names the file and the key; those of program::read_config_files().
Result<LoadedSettings> load_settings(const net::ProfilePaths& paths, const SettingsFiles& files);

/// The names of the templates, sorted.
std::vector<std::string> template_names(const std::filesystem::path& templates);

/// Creates the profile's folders and its pxcluster.json, a copy of the template.
/// errors  bad_input: no such template (lists them), or the profile has such a file already;
/// system.
Result<void> create_profile(const net::ProfilePaths& paths, const std::string& from,
                            const std::optional<std::filesystem::path>& templates);

}  // namespace px::cluster
