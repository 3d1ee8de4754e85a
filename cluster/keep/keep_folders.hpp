#pragma once

#include <filesystem>
#include <vector>

#include "os/child_process.hpp"
#include "os/descriptor.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// Folders for the files of variables that a restart carries over: one in the shared memory of this
/// host, and one in the profile's folder for files that do not fit there. Only this user can read
/// them. The destructor removes them, and a child process does so if this process ends in any way.
class KeepFolders {
 public:
  /// errors  system: the profile's folder cannot be written, or the child cannot be started.
  static Result<KeepFolders> make(const std::filesystem::path& profile);
  KeepFolders(KeepFolders&&) = default;
  KeepFolders& operator=(KeepFolders&&) = delete;
  ~KeepFolders();

  /// The one in shared memory first, if the host has that.
  const std::vector<std::filesystem::path>& paths() const { return paths_; }

 private:
  KeepFolders(std::vector<std::filesystem::path> paths, os::Descriptor pipe,
              os::ChildProcess remover)
      : paths_(std::move(paths)), pipe_(std::move(pipe)), remover_(std::move(remover)) {}

  std::vector<std::filesystem::path> paths_;
  os::Descriptor pipe_;  // its end tells the child that this process has ended
  os::ChildProcess remover_;
};

}  // namespace px::cluster
