#include "os/file_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "os/host.hpp"
#include "os/written_file.hpp"

namespace px::os {
namespace {

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Whether the name still leads to the open file: its last holder may have removed it.
bool is_still_named(int descriptor, const std::filesystem::path& path) {
  struct stat open_file {};
  struct stat named_file {};
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
         open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

/// "<boot id> <host name>\n": a pid means nothing elsewhere.
void write_place(int descriptor) {
  const std::string text = boot_id() + " " + host_name() + "\n";
  if (::ftruncate(descriptor, 0) == 0) static_cast<void>(write_at(descriptor, 0, text));
}

/// Boot id and host name; empty texts in the file of an older version.
std::pair<std::string, std::string> read_place(int descriptor) {
  char buffer[512];
  const ssize_t count = ::pread(descriptor, buffer, sizeof buffer, 0);
  const std::string text(buffer, count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return {};
  return {text.substr(0, space), text.substr(space + 1, text.find('\n') - space - 1)};
}

}  // namespace

std::string FileLock::LockHolder::text() const {
  if (pid) return "process " + std::to_string(*pid);
  return "a process on " + (host.empty() ? std::string("another host") : host) +
         " (not visible from here)";
}

Result<FileLock> FileLock::take(const std::filesystem::path& path) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    Descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    if (!file.is_open())
      return Error{ErrorKind::system,
                   "cannot write " + path.string() + ": " + std::strerror(errno)};
    struct flock lock = whole_file();
    if (::fcntl(file.value(), F_SETLK, &lock) != 0) {
      if (errno != EACCES && errno != EAGAIN) return FileLock{Descriptor{}, {}};
      const auto other = holder(path);
      return Error{ErrorKind::overloaded, other ? other->text() : "another process"};
    }
    if (is_still_named(file.value(), path)) {
      write_place(file.value());
      return FileLock{std::move(file), path};
    }
  }
  return Error{ErrorKind::system,
               path.string() + " cannot be locked: other processes keep removing it"};
}

std::optional<FileLock::LockHolder> FileLock::holder(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
  struct flock lock = whole_file();
  if (!file.is_open() || ::fcntl(file.value(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
    return std::nullopt;
  const auto [boot, host] = read_place(file.value());
  const bool is_this_kernel = boot.empty() || boot == boot_id();
  if (is_this_kernel && lock.l_pid > 0) return LockHolder{lock.l_pid, host};
  return LockHolder{std::nullopt, host};
}

FileLock::~FileLock() {
  if (file_.is_open()) ::unlink(path_.c_str());
}

}  // namespace px::os
