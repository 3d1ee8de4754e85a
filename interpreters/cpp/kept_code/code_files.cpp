#include "interpreters/cpp/kept_code/code_files.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include "os/private_file.hpp"

namespace px::cpp {
namespace {

namespace fs = std::filesystem;

constexpr const char* suffix = ".code";

std::string checksum(const std::string& text) {
  return std::to_string(std::hash<std::string>{}(text));
}

std::string joined(const std::vector<std::string>& symbols) {
  std::string text;
  for (const std::string& symbol : symbols) text += symbol + "\n";
  return text;
}

/// The text of a file: identity, length and checksum of the rest, symbols, an empty line, object.
std::string packed(const std::string& identity, const StoredCode& code) {
  const std::string rest = joined(code.symbols) + "\n" + code.object;
  return identity + "\n" + std::to_string(rest.size()) + " " + checksum(rest) + "\n" + rest;
}

std::optional<StoredCode> unpacked(const std::string& identity, const std::string& text) {
  if (text.compare(0, identity.size() + 1, identity + "\n") != 0) return std::nullopt;
  const std::size_t end = text.find('\n', identity.size() + 1);
  if (end == text.npos) return std::nullopt;
  const std::string rest = text.substr(end + 1);
  if (text.substr(identity.size() + 1, end - identity.size() - 1) !=
      std::to_string(rest.size()) + " " + checksum(rest))
    return std::nullopt;
  StoredCode code;
  std::size_t begin = 0;
  for (std::size_t line; (line = rest.find('\n', begin)) != rest.npos; begin = line + 1) {
    if (line == begin) {
      code.object = rest.substr(line + 1);
      return code;
    }
    code.symbols.push_back(rest.substr(begin, line - begin));
  }
  return std::nullopt;
}

std::optional<StoredCode> read_code(const fs::path& path, const std::string& identity,
                                    std::size_t max_bytes) {
  const Result<std::string> text = os::read_file(path, max_bytes);
  return text ? unpacked(identity, *text) : std::nullopt;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, failure))
    if (entry.path().extension() == suffix) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<StoredCode> CodeFiles::read() const {
  std::vector<StoredCode> all;
  for (const fs::path& path : files_in(folder_)) {
    if (all.size() >= bounds_.files) break;
    if (auto code = read_code(path, identity_, bounds_.bytes)) all.push_back(std::move(*code));
  }
  return all;
}

bool CodeFiles::make_room(std::size_t bytes) const {
  for (const bool may_remove : {true, false}) {
    std::size_t count = 1, sum = bytes;
    std::error_code failure;
    const std::vector<fs::path> files = files_in(folder_);
    for (const fs::path& path : files) {
      const auto size = fs::file_size(path, failure);
      if (failure) continue;
      ++count;
      sum += size;
    }
    if (count <= bounds_.files && sum <= bounds_.bytes) return true;
    if (!may_remove) return false;
    for (const fs::path& path : files)
      if (!read_code(path, identity_, bounds_.bytes)) fs::remove(path, failure);
  }
  return false;
}

void CodeFiles::add(const StoredCode& code) const {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  const std::string text = packed(identity_, code);
  if (!make_room(text.size())) return;
  const fs::path path =
      fs::path(folder_) / (checksum(identity_ + "\n" + joined(code.symbols)) + suffix);
  // Where that fails the code is made again by the next session.
  (void)os::write_file_atomically(path, text, 0644, os::Survives::process);
}

}  // namespace px::cpp
