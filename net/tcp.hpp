#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/descriptor.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::net {

// Plain TCP for lifelines and streams. All sockets are non-blocking and close-on-exec, and
// connections have TCP keep-alive. A peer whose host is gone is noticed after about two minutes: a
// cable that is unplugged for a moment must not end a connection, and heartbeats detect such a peer
// sooner.

/// Whether this host can listen at IPv6 addresses. Tests it with a socket.
bool has_ipv6();

/// Listens at an address and port.
/// ip      may begin with "tcp://". "0.0.0.0" means every IPv4 address of this host; "*" and "::"
///         mean every IPv6 address as well if the host has IPv6.
/// port    0: a free one: see local_port().
/// errors  bad_input: not an address; system: the port is in use, or the address is not of this
///         host.
Result<os::Descriptor> listen_tcp(std::string_view ip, int port);

/// The port at which a socket of listen_tcp() listens.
int local_port(const os::Descriptor& listener);

/// Starts to connect and returns at once, unless `ip` is a name, which is looked up first. The
/// descriptor becomes readable or writable when the connection is up or has failed: see
/// connection_problem().
/// problem  receives errno of a failure, for callers that must distinguish failures; may be null.
/// errors   bad_input: not an address; system: it failed at once.
Result<os::Descriptor> start_connect_tcp(std::string_view ip, int port, int* problem = nullptr);

/// The errno with which a started connection failed; 0 if it has not failed so far. Clears it.
int connection_problem(const os::Descriptor& socket);

/// An address, in the form that start_connect_tcp() takes, and a port.
struct TcpTarget {
  std::string address;
  int port = 0;
};

/// Tests which targets accept connections: connects to all at the same time, and closes the
/// connections again. Blocks at most for `patience`.
/// result  for each target an errno: 0 if the target accepts, ETIMEDOUT if it has not answered
///         within `patience`.
std::vector<int> dial_tcp(const std::vector<TcpTarget>& targets, Duration patience);

/// Accepts the next waiting connection; a closed descriptor if there is none, with the errno of
/// accept4().
os::Descriptor accept_tcp(const os::Descriptor& listener);

}  // namespace px::net
