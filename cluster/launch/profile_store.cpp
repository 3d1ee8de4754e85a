#include "cluster/launch/profile_store.hpp"

#include <algorithm>

#include "os/private_file.hpp"

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

Result<void> lay_ipcluster_config_over(LoadedSettings& loaded, const net::ProfilePaths& paths) {
  const auto path = paths.root / "ipcluster_config.json";
  const auto object = read_object(path);
  if (!object) return object.error();
  if (!*object) return {};
  const auto ignored = apply_ipcluster_config(loaded.settings, **object, path.string());
  if (!ignored) return ignored.error();
  for (const std::string& name : *ignored)
    loaded.notes.push_back(path.string() + ": " + name + " is unknown to pxcluster and ignored");
  return {};
}

void note_python_files(LoadedSettings& loaded, const net::ProfilePaths& paths) {
  std::string found;
  for (const char* name : {"ipcluster_config.py", "ipcontroller_config.py", "ipengine_config.py"}) {
    std::error_code error;
    if (std::filesystem::exists(paths.root / name, error))
      found += (found.empty() ? "" : ", ") + std::string(name);
  }
  if (!found.empty())
    loaded.notes.push_back("ignoring Python configuration files: " + found + " in " +
                           paths.root.string() + " (put settings into " +
                           own_profile_file(paths).filename().string() + " there)");
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::filesystem::path own_profile_file(const net::ProfilePaths& paths) {
  return paths.root / "pxcluster.json";
}

Result<LoadedSettings> load_settings(const net::ProfilePaths& paths,
                                     const std::optional<std::filesystem::path>& templates) {
  LoadedSettings loaded;
  if (templates)
    for (const std::string& name : {std::string("default"), paths.profile_name()})
      if (auto done = lay_over(loaded.settings, *templates / (name + ".json")); !done)
        return done.error();
  if (auto done = lay_ipcluster_config_over(loaded, paths); !done) return done.error();
  if (auto done = lay_over(loaded.settings, own_profile_file(paths)); !done) return done.error();
  note_python_files(loaded, paths);
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
    return Error{ErrorKind::bad_input, "there is no template '" + from + "' in " +
                                           templates->string() +
                                           "; available: " + joined(template_names(*templates))};
  const auto own_file = own_profile_file(paths);
  std::error_code error;
  if (std::filesystem::exists(own_file, error))
    return Error{ErrorKind::bad_input, own_file.string() + " already exists: edit or remove it"};
  if (auto done = net::create_profile_folders(paths); !done) return done.error();
  return os::write_file_atomically(own_file, *text, 0644);
}

}  // namespace px::cluster
