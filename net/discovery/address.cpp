#include "net/discovery/address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>

#include "os/host.hpp"
#include "wire/text.hpp"

namespace px::net {
namespace {

bool is_ipv6(std::string_view ip) {
  return ip.find(':') != std::string_view::npos;
}

bool is_link_local(std::string_view ip) {
  return ip.starts_with("fe80:") || ip.starts_with("169.254.");
}

/// Interfaces behind which there are only this host's own containers and virtual machines.
bool is_inner_bridge(std::string_view interface) {
  for (const std::string_view prefix :
       {"docker", "br-", "virbr", "veth", "lxc", "lxd", "cni", "flannel", "podman", "vmnet"})
    if (interface.starts_with(prefix)) return true;
  return false;
}

}  // namespace

bool is_loopback(std::string_view ip) {
  return ip.starts_with("127.") || ip == "::1";
}

bool is_local_address(std::string_view ip) {
  if (is_loopback(ip)) return true;
  const auto addresses = local_addresses();
  return std::find(addresses.begin(), addresses.end(), ip) != addresses.end();
}

bool is_ip_address(std::string_view text) {
  const std::string ip{text};
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  return ::inet_pton(AF_INET, ip.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, ip.c_str(), bytes.data()) == 1;
}

std::vector<std::string> resolve_host(const std::string& text) {
  if (is_ip_address(text)) return {text};
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(text.c_str(), nullptr, &hints, &found) != 0 || !found) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> held{found, &::freeaddrinfo};
  std::vector<std::string> addresses;
  for (const addrinfo* each = found; each; each = each->ai_next)
    if (std::string ip = ip_text(each->ai_addr);
        !ip.empty() && std::find(addresses.begin(), addresses.end(), ip) == addresses.end())
      addresses.push_back(std::move(ip));
  std::stable_partition(addresses.begin(), addresses.end(),
                        [](const std::string& ip) { return !is_ipv6(ip); });
  return addresses;
}

std::vector<std::string> reachable_addresses(std::vector<InterfaceAddress> found) {
  std::erase_if(found, [](const InterfaceAddress& each) {
    return is_loopback(each.ip) || is_link_local(each.ip);
  });
  const auto rank = [](const InterfaceAddress& each) {
    return 2 * is_inner_bridge(each.interface) + is_ipv6(each.ip);
  };
  std::stable_sort(
      found.begin(), found.end(),
      [&](const InterfaceAddress& a, const InterfaceAddress& b) { return rank(a) < rank(b); });
  std::vector<std::string> addresses;
  for (InterfaceAddress& each : found) addresses.push_back(std::move(each.ip));
  return addresses;
}

std::optional<int> read_port(std::string_view text) {
  const std::optional<int> port = read_whole_number(text);
  return port && *port >= 1 && *port <= 65535 ? port : std::nullopt;
}

std::string in_brackets(std::string_view ip) {
  const std::string text{ip};
  return is_ipv6(ip) && !ip.starts_with('[') ? "[" + text + "]" : text;
}

std::string ip_of_interface(std::string_view interface) {
  const auto start = interface.find("://");
  if (start != std::string_view::npos) interface.remove_prefix(start + 3);
  if (interface.starts_with('[') && interface.ends_with(']'))
    interface = interface.substr(1, interface.size() - 2);
  return std::string(interface);
}

bool is_wildcard(std::string_view interface) {
  const std::string ip = ip_of_interface(interface);
  return ip == "*" || ip == "0.0.0.0" || ip == "::";
}

OwnHost OwnHost::find() {
  return {os::host_name(), local_addresses()};
}

bool OwnHost::is_called(std::string_view host) const {
  return host.empty() || host == name || host == "localhost" || is_loopback(host) ||
         std::find(addresses.begin(), addresses.end(), host) != addresses.end();
}

std::vector<std::string> dial_candidates(const ConnectionCommon& info, const OwnHost& here) {
  std::vector<std::string> candidates;
  const auto add = [&](const std::string& host) {
    if (!host.empty() && std::find(candidates.begin(), candidates.end(), host) == candidates.end())
      candidates.push_back(host);
  };
  const auto is_here = [&](const std::string& host) { return here.is_called(host); };
  if (is_wildcard(info.interface)) {
    const bool is_near = is_here(info.location) ||
                         std::any_of(info.addresses.begin(), info.addresses.end(), is_here);
    if (is_near) add(ip_of_interface(info.interface) == "::" ? "::1" : "127.0.0.1");
    for (const std::string& address : info.addresses) add(address);
    if (!is_near || !is_loopback(info.location)) add(info.location);
  } else {
    for (const std::string& address : info.addresses) add(address);
    add(ip_of_interface(info.interface));
  }
  return candidates;
}

}  // namespace px::net
