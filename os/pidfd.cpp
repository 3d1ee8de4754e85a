#include "os/pidfd.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "wire/text_parsing.hpp"

namespace px::os {
namespace {

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/// The TCP port at the other end of a socket; 0: it has none.
int peer_port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket.value(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

}  // namespace

Descriptor open_pidfd(pid_t pid) {
  return Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
}

std::vector<Descriptor> share_connections(pid_t pid, int peer_port) {
  std::vector<Descriptor> shared;
  const Descriptor process = open_pidfd(pid);
  std::error_code error;
  const std::filesystem::path folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto number = read_whole_number(entry.path().filename().string());
    const auto target = std::filesystem::read_symlink(entry.path(), error).string();
    if (!process.is_open() || !number || !target.starts_with("socket:")) continue;
    Descriptor socket{static_cast<int>(::syscall(SYS_pidfd_getfd, process.value(), *number, 0))};
    if (socket.is_open() && peer_port_of(socket) == peer_port) shared.push_back(std::move(socket));
  }
  return shared;
}

}  // namespace px::os
