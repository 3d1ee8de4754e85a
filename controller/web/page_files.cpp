#include "controller/web/page_files.hpp"

#include <cstdlib>
#include <utility>
#include <vector>

#include "os/private_file.hpp"
#include "program/find_python.hpp"

namespace px::controller {
namespace {

constexpr const char* page_without_files =
    "<!doctype html><meta charset=\"utf-8\"><title>polyxeus</title>"
    "<p>This polyxeus was built without its dashboard, because npm was missing. "
    "<code>/metrics</code> works.</p>\n";

std::vector<std::filesystem::path> page_folders() {
  if (const char* const set = std::getenv("POLYXEUS_DASHBOARD")) return {set};
  const auto folder = std::filesystem::path(program::own_program()).parent_path();
  return {folder / "../share/polyxeus/dashboard", folder / "dashboard"};
}

}  // namespace

std::optional<std::map<std::string, std::string>> read_page_files(
    const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error)) continue;
    if (auto text = os::read_file(entry.path(), std::size_t{1} << 20))
      files[entry.path().filename().string()] = std::move(*text);
  }
  if (!files.contains("index.html")) return std::nullopt;
  return files;
}

std::map<std::string, std::string> find_page_files() {
  for (const auto& folder : page_folders())
    if (auto files = read_page_files(folder)) return std::move(*files);
  return {{"index.html", page_without_files}};
}

}  // namespace px::controller
