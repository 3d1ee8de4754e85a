#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/descriptor.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::net {

// Plain TCP for lifelines and streams. All sockets never block, are closed on exec and keep alive. A peer whose
// host is gone is noticed after about two minutes: a cable that is pulled for a moment must not end
// a connection, and heartbeats are there for those who want to know sooner.

/// Whether this host can listen at IPv6 addresses.
bool has_ipv6();

/// Listens.  ip  may begin with "tcp://"; "0.0.0.0" is every IPv4 address of this host, "*" and
/// "::" every IPv6 address as well where the host has IPv6. errors  bad_input: not an address;
/// system: the port is in use, the address is not ours.
Result<os::Descriptor> listen_tcp(std::string_view ip, int port);

/// The port at which a listening socket listens.
int local_port(const os::Descriptor& listener);

/// Starts to connect and returns at once; a refusal is found by the first read, or at once.
/// problem  where to put the system's number of a failure, for those who must tell them apart.
/// errors   bad_input: not an address; system.
Result<os::Descriptor> start_connect_tcp(std::string_view ip, int port, int* problem = nullptr);

/// The system's number of what went wrong with a connection that was started; 0: nothing so far.
int connection_problem(const os::Descriptor& socket);

/// An address, as start_connect_tcp() takes it, and a port.
struct TcpTarget {
  std::string address;
  int port = 0;
};

/// Connects to all at once, then closes the connections. For each target the system's number of
/// what went wrong: 0 where somebody accepts, ETIMEDOUT where nobody answers within `patience`.
std::vector<int> dial_tcp(const std::vector<TcpTarget>& targets, Duration patience);

/// The next connection; not open where none waits. errno is that of accept4().
os::Descriptor accept_tcp(const os::Descriptor& listener);

}  // namespace px::net
