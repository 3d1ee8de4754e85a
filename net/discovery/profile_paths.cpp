#include "net/discovery/profile_paths.hpp"

#include <algorithm>
#include <cstdlib>

#include "os/folders.hpp"
#include "os/private_file.hpp"

namespace px::net {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Without a slash at the end, so that its last part is its name.
std::filesystem::path absolute_folder(const std::string& text) {
  const auto path = std::filesystem::absolute(os::expand_home(text)).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

Result<void> check_name(std::string_view what, std::string_view name) {
  const bool is_odd = std::any_of(name.begin(), name.end(), [](unsigned char c) {
    return c == '/' || c < ' ' || c == 127;  // it becomes a file's name and a line of a script
  });
  if (!is_odd) return {};
  return Error{ErrorKind::bad_input, "the " + std::string(what) + " '" + std::string(name) +
                                         "' must contain neither '/' nor control characters"};
}

}  // namespace

std::string ProfilePaths::profile_name() const {
  const std::string folder = root.filename().string();
  return folder.starts_with("profile_") ? folder.substr(8) : folder;
}

std::string ProfilePaths::infixed(std::string_view stem, std::string_view end) const {
  return std::string(stem) + (cluster_id.empty() ? "" : "-" + cluster_id) + std::string(end);
}

Result<std::filesystem::path> find_ipython_dir(const ProfileChoice& choice) {
  if (!choice.ipython_dir.empty()) return absolute_folder(choice.ipython_dir);
  if (const std::string set = environment("IPYTHONDIR"); !set.empty()) return absolute_folder(set);
  const std::string home = environment("HOME");
  if (home.empty())
    return Error{
        ErrorKind::not_found,
        "neither IPYTHONDIR nor HOME is set: name the folder of profiles with --ipython-dir"};
  return std::filesystem::path(home) / ".ipython";
}

Result<ProfilePaths> find_profile(const ProfileChoice& choice) {
  ProfilePaths paths;
  paths.cluster_id = choice.has_cluster_id ? choice.cluster_id : environment("IPP_CLUSTER_ID");
  if (auto ok = check_name("cluster id", paths.cluster_id); !ok) return ok.error();
  const std::string from_environment = environment("IPP_PROFILE_DIR");
  const std::string& folder = choice.profile_dir.empty() ? from_environment : choice.profile_dir;
  if (!folder.empty()) {
    paths.root = absolute_folder(folder);
    return paths;
  }
  const std::string name = choice.profile.empty() ? "default" : choice.profile;
  if (auto ok = check_name("profile", name); !ok) return ok.error();
  const Result<std::filesystem::path> ipython_dir = find_ipython_dir(choice);
  if (!ipython_dir) return ipython_dir.error();
  paths.root = *ipython_dir / ("profile_" + name);
  return paths;
}

Result<void> create_profile_folders(const ProfilePaths& paths) {
  for (const auto& [folder, mode] :
       {std::pair{paths.root, 0755u}, std::pair{paths.security(), 0700u},
        std::pair{paths.log(), 0700u}, std::pair{paths.pid(), 0700u},
        std::pair{paths.startup(), 0755u}})
    if (auto made = os::make_folder(folder, mode); !made) return made.error();
  return {};
}

}  // namespace px::net
