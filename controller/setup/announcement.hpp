#pragma once

#include <string>
#include <vector>

#include "net/discovery/address.hpp"

namespace px::controller {

/// What a controller must know of its host to say where it is. A test makes one up.
struct HostFacts {
  std::string name;
  std::vector<net::InterfaceAddress> interfaces;
  std::vector<std::string> name_stands_for;  ///< What the name resolves to here.
  /// Those of this host. Asks the name service, which may take seconds.
  static HostFacts find();
};

/// Where others find a controller, as its connection files say it.
struct Announcement {
  std::string location;                ///< As ipyparallel reads it: one name or address.
  std::vector<std::string> addresses;  ///< All; empty: only this host can connect.
};

/// Where a controller that listens at `ips` can be reached. `location` is never a loopback address
/// where others may come from other hosts; it stays the host's name as long as that is of use.
/// ips              what it listens at: addresses, *, 0.0.0.0 or ::
/// wanted_location  what the user says; empty: nothing. It comes first.
Announcement announce(const std::vector<std::string>& ips, const std::string& wanted_location,
                      const HostFacts& host);

/// "10.0.0.1,::1" -> both.
std::vector<std::string> split_addresses(const std::string& text);

}  // namespace px::controller
