#include "os/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "os/descriptor.hpp"
#include "os/written_file.hpp"

namespace px::os {
namespace {

Error failure(std::string_view what, const std::filesystem::path& path) {
  return Error{errno == ENOENT ? ErrorKind::not_found : ErrorKind::system,
               std::string(what) + " " + path.string() + ": " + std::strerror(errno)};
}

}  // namespace

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text,
                                   unsigned mode, Survives survives) {
  const std::filesystem::path part = path.string() + "." + std::to_string(::getpid()) + ".part";
  const Descriptor file{::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)};
  if (!file.is_open()) return failure("cannot write", part);
  // open() takes the umask off the mode, and leaves an old file's mode alone.
  const bool is_written = ::fchmod(file.value(), mode) == 0 && write_all(file.value(), text) &&
                          (survives == Survives::process || ::fsync(file.value()) == 0);
  if (!is_written || ::rename(part.c_str(), path.c_str()) != 0) {
    const Error error = failure("cannot write", path);
    ::unlink(part.c_str());
    return error;
  }
  return {};
}

namespace {

Result<std::string> read_all(const Descriptor& file, const std::filesystem::path& path,
                             std::size_t max_bytes) {
  std::string text;
  char part[16384];
  for (;;) {
    const ssize_t count = retried([&] { return ::read(file.value(), part, sizeof part); });
    if (count < 0) return failure("cannot read", path);
    if (count == 0) return text;
    text.append(part, static_cast<std::size_t>(count));
    if (text.size() > max_bytes)
      return Error{ErrorKind::bad_input,
                   path.string() + " is longer than " + std::to_string(max_bytes) + " bytes"};
  }
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) return failure("cannot read", path);
  return read_all(file, path, max_bytes);
}

std::optional<std::string> why_not_private(unsigned owner, unsigned mode, unsigned user) {
  constexpr unsigned root = 0;
  if (owner != user && owner != root)
    return "belongs to user " + std::to_string(owner) +
           ", not to you: that user could have written other keys into it";
  const unsigned allowed = owner == root ? 0740u : 0700u;
  if ((mode & 0777u & ~allowed) == 0) return std::nullopt;
  std::string digits = "0000";
  for (int i = 3, rest = static_cast<int>(mode & 0777u); i > 0; --i, rest /= 8)
    digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + rest % 8);
  return "can be read or changed by other users (its mode is " + digits + ")";
}

Result<std::string> read_private_file(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) return failure("cannot read", path);
  struct stat status{};
  if (::fstat(file.value(), &status) != 0) return failure("cannot read", path);
  if (S_ISREG(status.st_mode))
    if (const auto why = why_not_private(status.st_uid, status.st_mode, ::geteuid()))
      return Error{ErrorKind::bad_input,
                   path.string() + " " + *why +
                       "; whoever has its keys can run code as you: `chmod 600 " + path.string() +
                       "`; if another user owns it, copy it again from its source"};
  return read_all(file, path, std::size_t{16} << 20);
}

Result<void> make_folder(const std::filesystem::path& path, unsigned mode) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  // "a/b/" has the parent "a/b".
  const auto parent = (path.has_filename() ? path : path.parent_path()).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error)
    return Error{ErrorKind::system,
                 "cannot create the folder " + parent.string() + ": " + error.message()};
  if (::mkdir(path.c_str(), mode) == 0) return {};
  const int reason = errno;
  if (reason == EEXIST && std::filesystem::is_directory(path, error)) return {};
  errno = reason;
  return failure("cannot create the folder", path);
}

}  // namespace px::os
