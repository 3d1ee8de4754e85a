#include "cluster/doctor/dialed_ports.hpp"

#include <algorithm>

#include "wire/text.hpp"

namespace px::cluster {
namespace {

std::vector<int>& ports_in(DialedPorts& address, DialState state) {
  switch (state) {
    case DialState::open:
      return address.open;
    case DialState::refused:
      return address.refused;
    case DialState::silent:
      return address.silent;
    case DialState::unreachable:
      return address.unreachable;
  }
  check(false);
  return address.open;
}

}  // namespace

std::vector<DialedPorts> by_address(const std::vector<Dialed>& dialed) {
  std::vector<DialedPorts> addresses;
  for (const Dialed& each : dialed) {
    auto found = std::find_if(addresses.begin(), addresses.end(),
                              [&](const DialedPorts& known) { return known.name == each.address; });
    if (found == addresses.end())
      found = addresses.insert(found, DialedPorts{each.address, {}, {}, {}, {}});
    ports_in(*found, each.state).push_back(each.port);
  }
  return addresses;
}

std::string port_list(const std::vector<int>& ports) {
  return (ports.size() == 1 ? "port " : "ports ") + join(ports, ", ");
}

}  // namespace px::cluster
