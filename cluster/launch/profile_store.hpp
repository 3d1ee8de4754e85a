#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/launch/settings.hpp"
#include "net/discovery/profile_paths.hpp"

namespace px::cluster {

/// The settings of a profile, and notes for the user about its files.
struct LoadedSettings {
  Settings settings;
  std::vector<std::string> notes;
};

/// The profile's own file, which pxcluster reads.
std::filesystem::path own_profile_file(const net::ProfilePaths& paths);

/// The files that define how a cluster is started.
struct SettingsFiles {
  std::optional<std::filesystem::path> templates;  ///< The folder of the templates.
  std::string config_file;  ///< Replaces the profile's ipcluster_config; empty: those are used.
  bool has_profile = true;  ///< Whether to use those of the profile's folder, too.
};

/// Merges these, later ones taking precedence: the template `default`, the template with the
/// profile's name, the profile's ipcluster_config.py and ipcluster_config.json or the file that
/// replaces these two, and the profile's pxcluster.json.
/// errors  bad_input: the message names the file and the key; those of
///         program::read_config_files().
Result<LoadedSettings> load_settings(const net::ProfilePaths& paths, const SettingsFiles& files);

/// The names of the templates, sorted.
std::vector<std::string> template_names(const std::filesystem::path& templates);

/// Creates the profile's folders and its pxcluster.json, a copy of the template.
/// errors  bad_input: no such template (the message lists them), or the profile already has such a
///         file; system.
Result<void> create_profile(const net::ProfilePaths& paths, const std::string& from,
                            const std::optional<std::filesystem::path>& templates);

}  // namespace px::cluster
