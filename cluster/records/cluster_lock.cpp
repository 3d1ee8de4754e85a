#include "cluster/records/cluster_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace px::cluster {
namespace {

std::filesystem::path lock_path(const net::ProfilePaths& paths) {
  return paths.pid() / ("pxcluster-" + paths.cluster_id + ".lock");
}

struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Whether the name still leads to the open file: its last holder may have removed it.
bool is_still_named(int descriptor, const std::filesystem::path& path) {
  struct stat open_file{};
  struct stat named_file{};
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
         open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

}  // namespace

Result<ClusterLock> ClusterLock::take(const net::ProfilePaths& paths) {
  const auto path = lock_path(paths);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0)
      return Error{ErrorKind::system,
                   "cannot write " + path.string() + ": " + std::strerror(errno)};
    struct flock lock = whole_file();
    if (::fcntl(descriptor, F_SETLK, &lock) != 0) {
      const bool is_held = errno == EACCES || errno == EAGAIN;
      ::close(descriptor);
      if (!is_held) return ClusterLock{-1, {}};  // no locks here: go without
      const auto pid = holder(paths);
      return Error{
          ErrorKind::overloaded,
          "pxcluster" + (pid ? " " + std::to_string(*pid) : std::string()) + " supervises it"};
    }
    if (is_still_named(descriptor, path)) return ClusterLock{descriptor, path};
    ::close(descriptor);
  }
  return Error{ErrorKind::system,
               path.string() + " cannot be locked: other processes keep removing it"};
}

std::optional<int> ClusterLock::holder(const net::ProfilePaths& paths) {
  const int descriptor = ::open(lock_path(paths).c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct flock lock = whole_file();
  const bool is_known = ::fcntl(descriptor, F_GETLK, &lock) == 0;
  ::close(descriptor);
  if (!is_known || lock.l_type == F_UNLCK || lock.l_pid <= 0) return std::nullopt;
  return lock.l_pid;
}

ClusterLock::ClusterLock(ClusterLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

ClusterLock::~ClusterLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace px::cluster
