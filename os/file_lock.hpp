#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "os/descriptor.hpp"
#include "wire/error.hpp"

namespace px::os {

/// An exclusive lock on a file. It is held until this object is destroyed or its process ends in
/// any way, and is effective for all processes that see the file: also those of other containers,
/// and those of other hosts if the file system supports that. If the file system has no locks
/// take() succeeds without one. The process that holds a lock must not call holder(): the system
/// releases the lock when any descriptor of the file is closed.
class FileLock {
 public:
  /// The process that holds a lock.
  struct LockHolder {
    std::optional<int> pid;  ///< Nothing: it runs in another container or on another host.
    std::string host;        ///< Its host's name; empty: unknown.
    /// "process 12", or "a process on host1 (not visible from here)".
    std::string text() const;
  };

  /// Makes the file if it is missing, and takes the lock. The destructor removes the file.
  /// errors  overloaded: another process holds it, named by LockHolder::text();
  ///         system: the file cannot be written.
  static Result<FileLock> take(const std::filesystem::path& path);
  /// The process that holds it; nothing: none does.
  static std::optional<LockHolder> holder(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept = default;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(Descriptor file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Descriptor file_;  // closed: moved from, or the file system has no locks
  std::filesystem::path path_;
};

}  // namespace px::os
