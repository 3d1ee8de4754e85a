#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "interpreters/cpp/compile/package_flags.hpp"
#include "os/run_command.hpp"

namespace px::cpp {
namespace {

bool is_package_name(const std::string& name) {
  return !name.empty() && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '_' || c == '.' || c == '+' || c == '-';
         });
}

std::string definition(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return "#define " + text + " 1\n";
  return "#define " + text.substr(0, equals) + " " + text.substr(equals + 1) + "\n";
}

std::string library_path(const std::string& name, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::string path = folder + "/lib" + name + ".so";
    std::error_code error;
    if (std::filesystem::exists(path, error)) return path;
  }
  return name;
}

}  // namespace

PackageFlags read_package_flags(std::string_view text) {
  PackageFlags flags;
  std::vector<std::string> folders, names;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const std::string rest = word.size() > 2 ? word.substr(2) : "";
    if (rest.empty()) continue;
    if (word.starts_with("-I")) flags.include_folders.push_back(rest);
    if (word.starts_with("-D")) flags.definitions += definition(rest);
    if (word.starts_with("-L")) folders.push_back(rest);
    if (word.starts_with("-l")) names.push_back(rest);
  }
  for (const std::string& name : names) flags.libraries.push_back(library_path(name, folders));
  return flags;
}

Result<PackageFlags> ask_pkg_config(const std::string& name) {
  if (!is_package_name(name))
    return Error{ErrorKind::bad_input, "`" + name + "` is not the name of a package."};
  const auto done = os::run_command({.argv = {"pkg-config", "--cflags", "--libs", name}});
  if (!done && done.error().kind == ErrorKind::not_found)
    return Error{ErrorKind::unsupported, "%pkg needs pkg-config: install it on this host."};
  if (!done) return done.error();
  if (!done->end.is_failure()) return read_package_flags(done->output);
  return Error{ErrorKind::not_found, "pkg-config finds no package " + name + ": " + done->errors};
}

}  // namespace px::cpp
