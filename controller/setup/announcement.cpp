#include "controller/setup/announcement.hpp"

#include <algorithm>

#include "os/host.hpp"
#include "program/value_checks.hpp"

namespace px::controller {
namespace {

bool contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool is_ipv6(const std::string& ip) {
  return ip.find(':') != std::string::npos;
}

}  // namespace

HostFacts HostFacts::find() {
  HostFacts facts{os::host_name(), net::interface_addresses(), {}};
  facts.name_stands_for = net::resolve_host(facts.name);
  return facts;
}

Announcement announce(const std::vector<std::string>& ips, const std::string& wanted_location,
                      const HostFacts& host) {
  const auto is_for_others = [](const std::string& ip) { return !net::is_loopback(ip); };
  if (std::none_of(ips.begin(), ips.end(), is_for_others))
    return {wanted_location.empty() ? host.name : wanted_location, {}};

  Announcement said;
  const auto add = [&](const std::string& address) {
    if (!address.empty() && !contains(said.addresses, address)) said.addresses.push_back(address);
  };
  add(wanted_location);
  const std::vector<std::string> own = net::reachable_addresses(host.interfaces);
  for (const std::string& ip : ips) {
    if (!net::is_wildcard(ip) && !net::is_loopback(ip)) add(net::ip_of_interface(ip));
    if (net::is_wildcard(ip))
      for (const std::string& address : own)
        if (ip != "0.0.0.0" || !is_ipv6(address)) add(address);
  }
  const bool is_name_of_use =
      std::any_of(host.name_stands_for.begin(), host.name_stands_for.end(),
                  [&](const std::string& address) { return contains(own, address); });
  if (is_name_of_use) add(host.name);
  said.location = !wanted_location.empty()                   ? wanted_location
                  : is_name_of_use || said.addresses.empty() ? host.name
                                                             : said.addresses.front();
  return said;
}

std::vector<std::string> split_addresses(const std::string& text) {
  std::vector<std::string> ips = program::split_at_commas(text);
  std::erase(ips, "");
  return ips;
}

}  // namespace px::controller
