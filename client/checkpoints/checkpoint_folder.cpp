#include "client/checkpoints/checkpoint_folder.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "os/private_file.hpp"

namespace px::client {
namespace {

constexpr const char* manifest_file = "manifest.json";
constexpr std::size_t least_digits = 6;
constexpr std::size_t most_manifest_bytes = std::size_t{1} << 30;

bool is_number(const std::string& name) {
  return name.size() >= least_digits && name.find_first_not_of("0123456789") == std::string::npos;
}

bool is_complete(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / manifest_file, error);
}

Result<std::vector<std::filesystem::path>> find_folders(const std::filesystem::path& path) {
  if (is_complete(path)) return std::vector{path};
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator each{path, error}, end; !error && each != end;
       each.increment(error))
    if (is_number(each->path().filename().string()) && is_complete(each->path()))
      found.push_back(each->path());
  if (error)
    return Error{
        error == std::errc::no_such_file_or_directory ? ErrorKind::not_found : ErrorKind::system,
        "cannot read " + path.string() + ": " + error.message()};
  if (found.empty())
    return Error{ErrorKind::not_found, "there is no complete checkpoint in " + path.string()};
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    const std::string first = a.filename(), second = b.filename();
    return std::pair{first.size(), first} < std::pair{second.size(), second};
  });
  return found;
}

}  // namespace

Result<std::vector<Json>> read_checkpoints(const std::filesystem::path& path) {
  const auto folders = find_folders(path);
  if (!folders) return folders.error();
  std::vector<Json> manifests;
  for (const auto& folder : *folders) {
    const auto text = os::read_file(folder / manifest_file, most_manifest_bytes);
    if (!text) return text.error();
    Json manifest = Json::parse(*text, nullptr, false);
    if (!manifest.is_object() || !manifest.value("ranks", Json()).is_array())
      return Error{ErrorKind::bad_input,
                   (folder / manifest_file).string() + " is not the manifest of a checkpoint"};
    manifest["name"] = folder.filename().string();
    manifest["path"] = folder.string();
    manifests.push_back(std::move(manifest));
  }
  return manifests;
}

}  // namespace px::client
