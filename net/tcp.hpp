#pragma once

#include <string_view>

#include <px/net/descriptor.hpp>
#include <px/wire/error.hpp>
#include <px/wire/time.hpp>

namespace px {

// Plain TCP for lifelines. All sockets never block, are closed on exec and keep alive: a peer
// whose host is gone is noticed after about half a minute.

/// Listens.  ip  may begin with "tcp://"; "*" and "0.0.0.0" are every address of this host.
/// errors  bad_input: not an address; system: the port is in use, the address is not ours.
Result<Descriptor> listen_tcp(std::string_view ip, int port);

/// The port at which a listening socket listens.
int local_port(const Descriptor& listener);

/// Starts to connect and returns at once; a refusal is found by the first read.
/// errors  bad_input: not an address; system.
Result<Descriptor> start_connect_tcp(std::string_view ip, int port);

/// Whether somebody accepts connections there; waits for at most `patience`, then closes it.
/// errors  bad_input: not an address; lost_peer: refused, or no answer: says which.
Result<void> probe_tcp(std::string_view ip, int port, Duration patience);

/// The next connection; not open where none waits. errno is that of accept4().
Descriptor accept_tcp(const Descriptor& listener);

}  // namespace px
