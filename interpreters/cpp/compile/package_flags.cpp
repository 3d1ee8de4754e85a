#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include <px/interpreters/cpp/package_flags.hpp>

namespace px {
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
    return Error{ErrorKind::bad_input, "`" + name + "` is no name of a package."};
  const std::string command = "pkg-config --cflags --libs '" + name + "' 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "re");
  if (!pipe) return Error{ErrorKind::system, "popen failed for " + command + "."};
  std::string text;
  char buffer[4096];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, count);
  const int status = ::pclose(pipe);
  if (status == 0) return read_package_flags(text);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return Error{ErrorKind::unsupported, "%pkg needs pkg-config, which is not on this host."};
  return Error{ErrorKind::not_found, "pkg-config does not know " + name + ": " + text};
}

}  // namespace px
