#include "interpreters/cpp/checkpoint/checkpoint_files.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include "os/descriptor.hpp"
#include "os/host.hpp"
#include "os/private_file.hpp"
#include "os/written_file.hpp"
#include "wire/ids.hpp"
#include "wire/text.hpp"

namespace px::cpp {
namespace {

namespace fs = std::filesystem;

constexpr const char* manifest_file = "manifest.json";
constexpr std::size_t least_digits = 6;
constexpr std::size_t largest_file = std::size_t{1} << 40;
constexpr std::size_t piece_bytes = std::size_t{8} << 20;
constexpr std::size_t compared_bytes = std::size_t{1} << 20;

Error cannot(const std::string& what, const fs::path& path, const std::string& why) {
  return {ErrorKind::system,
          "cannot " + what + " " + path.string() + " on host " + os::host_name() + ": " + why};
}

bool is_number(const std::string& name) {
  return name.size() >= least_digits && name.find_first_not_of("0123456789") == std::string::npos;
}

/// The names of the complete checkpoints, the oldest first.
std::vector<std::string> numbered(const fs::path& path, std::error_code& error) {
  std::vector<std::string> names;
  for (fs::directory_iterator each{path, error}, end; !error && each != end; each.increment(error))
    if (const std::string name = each->path().filename(); is_number(name)) {
      std::error_code ignored;
      if (fs::exists(each->path() / manifest_file, ignored)) names.push_back(name);
    }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair{a.size(), a} < std::pair{b.size(), b};
  });
  return names;
}

/// Removes a folder; at no time has it its name and not all of its files.
void remove_folder(const fs::path& path, const std::string& name) {
  std::error_code error;
  const fs::path aside = path / (".old-" + new_session_id());
  fs::rename(path / name, aside, error);
  if (!error) fs::remove_all(aside, error);
}

fs::path unfinished(const fs::path& path, const std::string& token) {
  return path / (".new-" + token);
}

Result<Json> read_manifest(const fs::path& folder) {
  const auto text = os::read_file(folder / manifest_file, largest_file);
  if (!text) return text.error();
  Json manifest = Json::parse(*text, nullptr, false);
  if (manifest.is_object()) return manifest;
  return Error{ErrorKind::bad_input, (folder / manifest_file).string() + " is malformed"};
}

bool sync_folder(const fs::path& path) {
  const os::Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  return folder.is_open() && ::fsync(folder.value()) == 0;
}

/// On another host's file system they would not be there.
Result<void> check_files(const fs::path& folder, const Json& manifest) {
  for (const Json& rank : manifest.at("ranks"))
    for (const Json& entry : rank.at("variables")) {
      if (!entry.contains("file")) continue;
      const std::string name = entry.at("file");
      std::error_code error;
      if (fs::file_size(folder / name, error) != entry.at("bytes").get<std::uintmax_t>() || error)
        return Error{ErrorKind::system, "host " + os::host_name() + " does not see the file " +
                                            name + " that engine " + rank.at("engine").dump() +
                                            " wrote on host " + rank.at("host").get<std::string>() +
                                            ": use a folder that all hosts share"};
    }
  return {};
}

/// Its number as text.
Result<std::string> rename_to_next(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const auto last = numbered(path, error);
  for (unsigned long number = last.empty() ? 1 : std::stoul(last.back()) + 1;; ++number) {
    std::string name = std::to_string(number);
    name.insert(0, least_digits - std::min(least_digits, name.size()), '0');
    fs::rename(folder, path / name, error);
    if (!error) return name;
    std::error_code ignored;
    if (!fs::exists(path / name, ignored)) return cannot("write into", path, error.message());
  }
}

Json remove_old(const fs::path& path, const Json& label, int keep) {
  Json removed = Json::array();
  if (keep == 0) return removed;
  std::vector<std::string> alike;
  std::error_code error;
  for (const std::string& name : numbered(path, error))
    if (const auto other = read_manifest(path / name);
        other && other->value("label", Json()) == label)
      alike.push_back(name);
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < alike.size(); ++i) {
    remove_folder(path, alike[i]);
    removed.push_back(alike[i]);
  }
  return removed;
}

class Checksum {
 public:
  Checksum() { check(::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) == 1); }
  void add(std::string_view bytes) {
    check(::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
  std::string text() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    check(::EVP_DigestFinal_ex(context_.get(), digest, &size) == 1);
    return hex_digits({digest, size});
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_{::EVP_MD_CTX_new(),
                                                              ::EVP_MD_CTX_free};
};

}  // namespace

Result<Json> begin_checkpoint(const fs::path& path, const std::string& token) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return cannot("write a checkpoint into", path, error.message());
  std::vector<std::string> remains;
  for (fs::directory_iterator each{path, error}, end; !error && each != end; each.increment(error))
    if (const std::string name = each->path().filename();
        name.starts_with(".new-") || name.starts_with(".old-"))
      remains.push_back(name);
  for (const std::string& name : remains) remove_folder(path, name);
  const auto previous = numbered(path, error);
  const fs::path folder = unfinished(path, token);
  if (!error) fs::create_directory(folder, error);
  if (error) return cannot("write a checkpoint into", path, error.message());
  return Json{{"folder", folder.string()},
              {"previous", previous.empty() ? Json() : Json(previous.back())}};
}

void abort_checkpoint(const fs::path& path, const std::string& token) {
  remove_folder(path, unfinished(path, token).filename());
}

Result<Json> commit_checkpoint(const fs::path& path, const std::string& token,
                               const std::string& manifest, int keep) {
  const fs::path folder = unfinished(path, token);
  const Json read = Json::parse(manifest);
  if (const auto done = check_files(folder, read); !done) return done.error();
  if (const auto done = write_checked(folder / manifest_file, {manifest}, [](std::size_t) {});
      !done)
    return done.error();
  if (!sync_folder(folder)) return cannot("write into", path, std::strerror(errno));
  auto name = rename_to_next(path, folder);
  if (!name) return name.error();
  if (!sync_folder(path)) return cannot("write into", path, std::strerror(errno));
  return Json{{"name", *name}, {"removed", remove_old(path, read.value("label", Json()), keep)}};
}

Result<Json> find_checkpoint(const fs::path& path, const Json& label) {
  std::error_code error;
  std::vector<fs::path> folders;
  if (fs::exists(path / manifest_file, error))
    folders = {path};
  else
    for (const std::string& name : numbered(path, error)) folders.push_back(path / name);
  if (error) return cannot("read a checkpoint from", path, error.message());
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    const auto manifest = read_manifest(*folder);
    if (!manifest) return manifest.error();
    if (label.is_null() || manifest->value("label", Json()) == label)
      return Json{{"folder", folder->string()}, {"manifest", manifest->dump()}};
  }
  return Error{ErrorKind::system, "there is no complete checkpoint" +
                                      (label.is_null() ? "" : " with the label " + label.dump()) +
                                      " in " + path.string() + " on host " + os::host_name()};
}

Json entries_of_rank(const fs::path& folder, std::size_t rank) {
  const auto manifest = read_manifest(folder);
  if (!manifest) return Json::array();
  const Json ranks = manifest->value("ranks", Json::array());
  return rank < ranks.size() ? ranks[rank].value("variables", Json::array()) : Json::array();
}

std::string checksum_of(const std::vector<std::string_view>& pieces) {
  Checksum checksum;
  for (const std::string_view piece : pieces) checksum.add(piece);
  return checksum.text();
}

bool begins_alike(const fs::path& path, const std::vector<std::string_view>& pieces) {
  std::ifstream file{path, std::ios::binary};
  std::string found;
  std::size_t left = compared_bytes;
  for (const std::string_view whole : pieces) {
    const std::string_view piece = whole.substr(0, left);
    found.resize(piece.size());
    if (!file.read(found.data(), static_cast<std::streamsize>(piece.size())) || found != piece)
      return false;
    left -= piece.size();
  }
  return true;
}

Result<std::string> write_checked(const fs::path& path, const std::vector<std::string_view>& pieces,
                                  const std::function<void(std::size_t)>& told) {
  const os::Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (!file.is_open()) return cannot("write", path, std::strerror(errno));
  Checksum checksum;
  off_t written = 0;
  for (std::string_view rest : pieces)
    while (!rest.empty()) {
      const std::string_view piece = rest.substr(0, piece_bytes);
      rest.remove_prefix(piece.size());
      checksum.add(piece);
      if (!os::write_all(file.value(), piece)) return cannot("write", path, std::strerror(errno));
      // Starts to write the dirty pages and does not wait for them.
      const auto size = static_cast<off_t>(piece.size());
      if (piece.size() == piece_bytes)
        ::posix_fadvise(file.value(), written, size, POSIX_FADV_DONTNEED);
      written += size;
      told(piece.size());
    }
  if (::fsync(file.value()) != 0) return cannot("write", path, std::strerror(errno));
  return checksum.text();
}

Result<std::string> read_checked(const fs::path& folder, const Json& entry) {
  const fs::path path = folder / entry.at("file").get<std::string>();
  auto bytes = os::read_file(path, largest_file);
  if (!bytes) return bytes.error();
  if (checksum_of({*bytes}) != entry.at("sha256").get<std::string>())
    return Error{ErrorKind::system,
                 path.string() + " is damaged: its checksum is not that of the manifest"};
  return bytes;
}

}  // namespace px::cpp
