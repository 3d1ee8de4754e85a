#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/interface_addresses.hpp"
#include "wire/connection_info.hpp"

namespace px::net {

/// Whether `ip` is an address of this host: of one of its interfaces, in 127.0.0.0/8, or ::1.
bool is_local_address(std::string_view ip);

/// Whether `ip` is a loopback address, which only its own host reaches: 127.0.0.0/8 or ::1.
bool is_loopback(std::string_view ip);

/// Whether `text` is an IPv4 or IPv6 address and not a name. IPv6 without brackets.
bool is_ip_address(std::string_view text);

/// The addresses of a host name, IPv4 first, each once; `text` itself if it is already an address;
/// empty if it does not resolve. Blocks while the name service is asked, which may take many
/// seconds.
std::vector<std::string> resolve_host(const std::string& text);

/// The addresses among `found` at which other hosts may reach this one, the most promising first:
/// without loopback and link-local addresses; IPv4 before IPv6; those of bridges to containers and
/// virtual machines last. The controller writes them into the connection files.
std::vector<std::string> reachable_addresses(std::vector<InterfaceAddress> found);

/// A TCP port, 1 to 65535; nothing if the text is anything else.
std::optional<int> read_port(std::string_view text);

/// The address in the form of an endpoint: "[fd00::1]" for the IPv6 address "fd00::1", other text
/// unchanged.
std::string in_brackets(std::string_view ip);
/// The address in "tcp://10.0.0.1" or "tcp://[fd00::1]", without transport and brackets.
std::string ip_of_interface(std::string_view interface);
/// Whether an interface stands for all addresses of its host: "*", "0.0.0.0" or "::", with or
/// without "tcp://".
bool is_wildcard(std::string_view interface);

/// The names of this host, by which a program recognizes that the controller runs on the same host.
/// A value; tests make their own.
struct OwnHost {
  std::string name;
  std::vector<std::string> addresses;
  /// Asks the operating system.
  static OwnHost find();
  /// Whether `host` means this host: its name, one of its addresses, "localhost", a loopback
  /// address or the empty text.
  bool is_called(std::string_view host) const;
};

/// The names and addresses at which to try to reach the controller of a connection file, best
/// first, each once. A controller of this very host that listens at all addresses is tried at
/// 127.0.0.1 first. The next ones are the file's `addresses`, and `location` or the address of
/// `interface` (protocol 2.4, item 2).
std::vector<std::string> dial_candidates(const ConnectionCommon& info, const OwnHost& here);

}  // namespace px::net
