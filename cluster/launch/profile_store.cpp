#include "cluster/launch/profile_store.hpp"

#include <algorithm>

#include "os/private_file.hpp"
#include "program/config_files.hpp"
#include "program/find_python.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

/// The JSON object in a file; nothing where there is no such file.
Result<std::optional<Json>> read_object(const std::filesystem::path& path) {
  const auto text = os::read_file(path);
  if (!text && text.error().kind == ErrorKind::not_found) return std::optional<Json>{};
  if (!text) return text.error();
  const auto object = unpack(Packer::json, *text);
  if (!object)
    return Error{ErrorKind::bad_input,
                 path.string() + " is not a JSON object: " + object.error().what};
  return std::optional<Json>{*object};
}

Result<void> lay_over(Settings& settings, const std::filesystem::path& path) {
  const auto object = read_object(path);
  if (!object) return object.error();
  if (!*object) return {};
  return apply_profile(settings, **object, path.string());
}

Result<void> lay_config_over(LoadedSettings& loaded, const program::ConfigFile& file) {
  const auto ignored = apply_ipcluster_config(loaded.settings, file.settings, file.path.string());
  if (!ignored) return ignored.error();
  for (const std::string& name : *ignored)
    loaded.notes.push_back(file.path.string() + ": " + name +
                           " is unknown to pxcluster and ignored");
  if (const std::string warning = program::warning_of_unusable(file); !warning.empty())
    loaded.notes.push_back(warning);
  return {};
}

/// The file that the user names, else those of the profile.
Result<std::vector<program::ConfigFile>> read_configs(const net::ProfilePaths& paths,
                                                      const SettingsFiles& files) {
  const std::string program = program::own_program();
  if (files.config_file.empty() && files.has_profile)
    return program::read_config_files(paths.root, "ipcluster", program);
  if (files.config_file.empty()) return std::vector<program::ConfigFile>{};
  auto file = program::read_config_file(files.config_file, program);
  if (!file) return file.error();
  return std::vector<program::ConfigFile>{std::move(*file)};
}

}  // namespace

std::filesystem::path own_profile_file(const net::ProfilePaths& paths) {
  return paths.root / "pxcluster.json";
}

Result<LoadedSettings> load_settings(const net::ProfilePaths& paths, const SettingsFiles& files) {
  LoadedSettings loaded;
  if (files.templates)
    for (const std::string& name : {std::string("default"), paths.profile_name()})
      if (auto done = lay_over(loaded.settings, *files.templates / (name + ".json")); !done)
        return done.error();
  const auto configs = read_configs(paths, files);
  if (!configs) return configs.error();
  for (const program::ConfigFile& config : *configs)
    if (auto done = lay_config_over(loaded, config); !done) return done.error();
  if (!files.has_profile) return loaded;
  if (auto done = lay_over(loaded.settings, own_profile_file(paths)); !done) return done.error();
  return loaded;
}

std::vector<std::string> template_names(const std::filesystem::path& templates) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(templates, error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> create_profile(const net::ProfilePaths& paths, const std::string& from,
                            const std::optional<std::filesystem::path>& templates) {
  if (!templates)
    return Error{ErrorKind::not_found,
                 "cannot find the templates of polyxeus: name their folder in $POLYXEUS_PROFILES"};
  const auto text = os::read_file(*templates / (from + ".json"));
  if (!text)
    return Error{ErrorKind::bad_input,
                 "there is no template '" + from + "' in " + templates->string() +
                     "; available: " + join(template_names(*templates), ", ")};
  const auto own_file = own_profile_file(paths);
  std::error_code error;
  if (std::filesystem::exists(own_file, error))
    return Error{ErrorKind::bad_input, own_file.string() + " already exists: edit or remove it"};
  if (auto done = net::create_profile_folders(paths); !done) return done.error();
  return os::write_file_atomically(own_file, *text, 0644);
}

}  // namespace px::cluster
