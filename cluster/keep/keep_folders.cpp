#include "cluster/keep/keep_folders.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "os/private_file.hpp"
#include "os/spawn.hpp"

namespace px::cluster {
namespace {

constexpr const char* shared_memory_folder = "/dev/shm";
/// An engine may still be writing: then a file appears while its folder is removed.
constexpr const char* removal =
    "read -r _; for _ in 1 2 3 4 5; do rm -rf -- \"$@\" && break; sleep 1; done";

/// profile  the last part of its path, for people who find the folder.
Result<std::filesystem::path> make_in(const std::filesystem::path& folder,
                                      const std::filesystem::path& profile) {
  std::string pattern = (folder / ("polyxeus-keep-" + profile.filename().string() + "-XXXXXX"));
  if (!::mkdtemp(pattern.data()))  // mode 0700
    return Error{ErrorKind::system,
                 "cannot create a folder in " + folder.string() + ": " + std::strerror(errno)};
  return std::filesystem::path(pattern);
}

void remove(const std::vector<std::filesystem::path>& paths) {
  std::error_code error;
  for (const auto& path : paths) std::filesystem::remove_all(path, error);
}

}  // namespace

Result<KeepFolders> KeepFolders::make(const std::filesystem::path& profile) {
  std::vector<std::filesystem::path> paths;
  if (auto made = make_in(shared_memory_folder, profile)) paths.push_back(std::move(*made));
  if (auto made = make_in(profile, profile))
    paths.push_back(std::move(*made));
  else
    return remove(paths), made.error();
  auto pipe = os::make_pipe();
  if (!pipe) return remove(paths), pipe.error();
  os::SpawnOptions options;
  options.argv = {"/bin/sh", "-c", removal, "sh"};
  for (const auto& path : paths) options.argv.push_back(path.string());
  options.input = pipe->read_end.value();
  options.output = os::NullDevice{};
  options.errors = os::NullDevice{};
  options.own_session = true;  // Ctrl-C is not for it
  auto remover = os::spawn(options);
  if (!remover) return remove(paths), remover.error();
  return KeepFolders{std::move(paths), std::move(pipe->write_end), std::move(remover->process)};
}

KeepFolders::~KeepFolders() {
  if (!pipe_.is_open()) return;  // moved from
  remove(paths_);
  pipe_.close();
  remover_.wait();
}

}  // namespace px::cluster
