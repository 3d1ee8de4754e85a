#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

namespace px::net {

/// An address of one of this host's network interfaces that are up.
struct InterfaceAddress {
  std::string interface;  ///< "eth0"
  std::string ip;         ///< "10.0.0.1" or "fd00::1"; an IPv6 address without its scope
  bool operator==(const InterfaceAddress&) const = default;
};

/// All addresses of this host's network interfaces that are up, loopback included. Empty if the
/// system call fails.
std::vector<InterfaceAddress> interface_addresses();

/// The addresses without the names of the interfaces.
std::vector<std::string> local_addresses();

/// The IPv4 or IPv6 address in a socket address, as text without port; empty for other families.
std::string ip_text(const sockaddr* address);

}  // namespace px::net
