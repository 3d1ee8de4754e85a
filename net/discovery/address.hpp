#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/interface_addresses.hpp"
#include "wire/connection_info.hpp"

namespace px::net {

/// Whether `ip` is one of this host's addresses, or in 127.0.0.0/8, or ::1.
bool is_local_address(std::string_view ip);

/// Whether `ip` is one that only its own host reaches: 127.0.0.0/8 or ::1.
bool is_loopback(std::string_view ip);

/// Whether `text` is an IPv4 or IPv6 address, not a name.
bool is_ip_address(std::string_view text);

/// The addresses of a host name, IPv4 first; `text` itself where it is an address already; empty
/// where it does not resolve. May wait for the name service.
std::vector<std::string> resolve_host(const std::string& text);

/// What others may dial of `found`, the most likely first: no loopback, no link-local address;
/// IPv4 before IPv6, and bridges of containers and virtual machines at the end.
std::vector<std::string> reachable_addresses(std::vector<InterfaceAddress> found);

/// A TCP port, 1 to 65535; nothing where the whole text is none.
std::optional<int> read_port(std::string_view text);

/// "tcp://fd00::1" is not an endpoint: "[fd00::1]" for an IPv6 address, else the text itself.
std::string in_brackets(std::string_view ip);
/// The ip of "tcp://10.0.0.1" or "tcp://[fd00::1]", without transport and brackets.
std::string ip_of_interface(std::string_view interface);
/// Whether an interface stands for every address of its host: *, 0.0.0.0 or ::.
bool is_wildcard(std::string_view interface);

/// What a dialler must know of its own host.
struct OwnHost {
  std::string name;
  std::vector<std::string> addresses;
  static OwnHost find();
  /// Whether `host` is a name or an address of it; an empty one is.
  bool is_called(std::string_view host) const;
};

/// Where to try to reach the controller of a connection file, best first: names and addresses, none
/// twice. A controller of this host is tried at 127.0.0.1 first; what `addresses` says follows, or
/// `location` where it says nothing (protocol 2.4, item 2).
std::vector<std::string> dial_candidates(const ConnectionCommon& info, const OwnHost& here);

}  // namespace px::net
