#include "net/local_interface.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "os/host.hpp"
#include "os/retried.hpp"

namespace px::net {
namespace {

constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::string_view transport = "ipc://";
constexpr std::string_view name_begin = "polyxeus-";
constexpr std::size_t longest_port = sizeof("/:65535") - 1;

std::filesystem::path folder_of(std::string_view interface) {
  return std::filesystem::path(interface.substr(transport.size()));
}

/// Whether it is there, ours, and closed to others.
bool is_private_folder(const std::filesystem::path& path) {
  struct stat found{};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid() && (found.st_mode & 077) == 0;
}

/// The address of a socket in the folder; its path fits, see SocketFolder::create().
sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, longest_path);
  return address;
}

os::Descriptor new_socket() {
  return os::Descriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
}

/// A connection to it; one that is not open where there is none, and errno says why.
os::Descriptor connect_path(const std::string& path) {
  const sockaddr_un address = address_of(path);
  os::Descriptor socket = new_socket();
  if (socket.is_open() &&
      ::connect(socket.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  return os::Descriptor{};
}

/// Whether nobody listens at any of the sockets that are in there. Of a controller that is just
/// starting there may be one that does not listen yet.
bool is_abandoned(const std::filesystem::path& folder) {
  std::error_code ignored;
  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (connect_path(entry.path()).is_open() || errno != ECONNREFUSED) return false;
    ++sockets;
  }
  return sockets > 1;
}

/// How the names of this host's folders begin: others may share the parent, and their sockets look
/// dead from here.
std::string name_here() {
  const std::string boot = os::boot_id();
  return std::string(name_begin) + (boot.empty() ? "" : boot.substr(0, 6) + "-");
}

os::Descriptor open_folder(const std::filesystem::path& path) {
  return os::Descriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

/// With the folder locked: a controller may just be coming back to it.
void remove_if_abandoned(const std::filesystem::path& path) {
  const os::Descriptor folder = open_folder(path);
  std::error_code ignored;
  if (folder.is_open() && ::flock(folder.value(), LOCK_EX | LOCK_NB) == 0 && is_abandoned(path))
    std::filesystem::remove_all(path, ignored);
}

void remove_abandoned(const std::filesystem::path& parent) {
  std::error_code ignored;
  std::vector<std::filesystem::path> folders;
  const std::string begin = name_here();
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored))
    if (entry.path().filename().string().starts_with(begin) && is_private_folder(entry.path()))
      folders.push_back(entry.path());
  for (const std::filesystem::path& path : folders) remove_if_abandoned(path);
}

bool is_at(const os::Descriptor& folder, const std::filesystem::path& path) {
  struct stat opened{}, found{};
  return ::fstat(folder.value(), &opened) == 0 && ::lstat(path.c_str(), &found) == 0 &&
         opened.st_dev == found.st_dev && opened.st_ino == found.st_ino;
}

Error failure(std::string_view what, const std::string& path) {
  return Error{ErrorKind::system, std::string(what) + " " + path + ": " + std::strerror(errno)};
}

std::string path_of(std::string_view interface, int port) {
  return endpoint(interface, port).substr(transport.size());
}

}  // namespace

std::string own_network() {
  const std::string boot = os::boot_id();
  struct stat network{};
  if (boot.empty() || ::stat("/proc/self/ns/net", &network) != 0) return "";
  return boot + ":" + std::to_string(network.st_ino);
}

std::optional<std::string> local_interface(const ConnectionCommon& info, std::string_view network) {
  if (!info.local || network.empty() || info.local->network != network) return std::nullopt;
  if (!is_unix(info.local->interface)) return std::nullopt;
  // Who may enter the folder could put sockets of his own there.
  if (!is_private_folder(folder_of(info.local->interface))) return std::nullopt;
  return info.local->interface;
}

Result<SocketFolder> SocketFolder::create(const std::filesystem::path& parent) {
  std::string path = (parent / (name_here() + "XXXXXX")).string();
  if (path.size() + longest_port > longest_path)
    return Error{ErrorKind::unsupported, "the path " + path + " is too long for Unix sockets"};
  remove_abandoned(parent);
  if (!::mkdtemp(path.data())) return failure("cannot make the folder", path);
  return hold(path);
}

Result<SocketFolder> SocketFolder::restore(std::string_view interface) {
  const std::filesystem::path path = folder_of(interface);
  if (path.native().size() + longest_port > longest_path)
    return Error{ErrorKind::unsupported,
                 "the path " + path.string() + " is too long for Unix sockets"};
  return hold(path);
}

/// Makes it where it is not there, and locks it. While it waits for the lock the folder may be
/// removed, by a controller that starts and takes it for abandoned.
Result<SocketFolder> SocketFolder::hold(const std::filesystem::path& path) {
  for (;;) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      return failure("cannot make the folder", path.string());
    os::Descriptor lock = open_folder(path);
    if (!lock.is_open() && errno == ENOENT) continue;
    if (!lock.is_open() || !is_private_folder(path))
      return Error{ErrorKind::system, "the folder " + path.string() +
                                          " belongs to another user or is accessible to others"};
    if (os::retried([&] { return ::flock(lock.value(), LOCK_SH); }) != 0)
      return failure("cannot lock the folder", path.string());
    if (is_at(lock, path)) return SocketFolder{path, std::move(lock)};
  }
}

SocketFolder::SocketFolder(SocketFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

SocketFolder::~SocketFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string SocketFolder::interface() const {
  return std::string(transport) + path_.string();
}

Result<os::Descriptor> listen_unix(std::string_view interface, int port) {
  const std::string path = path_of(interface, port);
  const sockaddr_un address = address_of(path);
  os::Descriptor socket = new_socket();
  ::unlink(path.c_str());  // left by a controller that was killed
  if (!socket.is_open() ||
      ::bind(socket.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.value(), SOMAXCONN) != 0)
    return failure("cannot listen at", path);
  return socket;
}

Result<os::Descriptor> connect_unix(std::string_view interface, int port, int* problem) {
  const std::string path = path_of(interface, port);
  os::Descriptor socket = connect_path(path);
  if (socket.is_open()) return socket;
  if (problem) *problem = errno;
  return failure("cannot connect to", path);
}

}  // namespace px::net
