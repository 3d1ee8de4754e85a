#pragma once

#include <string>
#include <vector>

#include "net/discovery/address.hpp"

namespace px::controller {

/// The information about a controller's host that its announcement needs. Tests make up their own.
struct HostFacts {
  std::string name;
  std::vector<net::InterfaceAddress> interfaces;
  std::vector<std::string> name_stands_for;  ///< The addresses to which the name resolves on this
                                             ///< host.
  /// The facts of this host. Asks the name service, which may take seconds.
  static HostFacts find();
};

/// The addresses of a controller in its connection files.
struct Announcement {
  std::string location;                ///< In ipyparallel's form: one name or address.
  std::vector<std::string> addresses;  ///< All; empty: only this host can connect.
};

/// The addresses at which a controller that listens on `ips` can be reached. `location` is never a
/// loopback address if peers may come from other hosts; it is the host's name as long as that is
/// usable.
/// ips              where it listens: addresses, *, 0.0.0.0 or ::
/// wanted_location  the user's choice; empty: none. It is listed first.
Announcement announce(const std::vector<std::string>& ips, const std::string& wanted_location,
                      const HostFacts& host);

/// "10.0.0.1,::1" -> both.
std::vector<std::string> split_addresses(const std::string& text);

}  // namespace px::controller
