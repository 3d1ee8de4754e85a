#pragma once

#include <filesystem>
#include <optional>

#include "net/discovery/profile_paths.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// Holds the name of a cluster for the pxcluster that watches over it, as long as that lives: the
/// system lets go of it at any death. The file is <profile>/pid/pxcluster-<cluster_id>.lock.
class ClusterLock {
 public:
  /// errors  overloaded: another pxcluster holds it; names its pid.
  static Result<ClusterLock> take(const net::ProfilePaths& paths);
  /// The pid of the pxcluster that holds it, if one does.
  static std::optional<int> holder(const net::ProfilePaths& paths);

  ClusterLock(ClusterLock&& other) noexcept;
  ClusterLock& operator=(ClusterLock&&) = delete;
  ~ClusterLock();

 private:
  ClusterLock(int descriptor, std::filesystem::path path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_;  // -1: moved from, or the file system has no locks
  std::filesystem::path path_;
};

}  // namespace px::cluster
