#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace px {

/// This host's name, as `location` in connection files gives it.
std::string host_name();

/// The IPv4 addresses of this host's interfaces, loopback among them.
std::vector<std::string> local_addresses();

/// Whether `ip` is one of this host's addresses, or in 127.0.0.0/8.
bool is_local_address(std::string_view ip);

/// The interface to dial where a file says `interface` and `location` (protocol 2.4, item 2): an
/// ip other than * and 0.0.0.0 is used as it is; otherwise 127.0.0.1 for this host and the first
/// IPv4 address of `location` for another. A location that does not resolve is used as text.
std::string dial_interface(std::string_view interface, std::string_view location);

}  // namespace px
