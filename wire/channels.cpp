#include "wire/channels.hpp"

#include <set>

namespace px {
namespace {

template <class Info>
std::vector<int> all_ports(const Info& info) {
  std::set<int> ports;
  visit_ports(info, [&](int port) { ports.insert(port); });
  return {ports.begin(), ports.end()};
}

template <class Info>
std::vector<int> all_needed_ports(Info& info) {
  for (const ConnectionChannel& channel : channels)
    if (channel.both_optional) (info.*channel.both_optional).reset();
  return all_ports(info);
}

}  // namespace

std::vector<int> ports_of(const ClientConnectionInfo& info) {
  return all_ports(info);
}

std::vector<int> ports_of(const EngineConnectionInfo& info) {
  return all_ports(info);
}

std::vector<int> needed_ports_of(ClientConnectionInfo info) {
  return all_needed_ports(info);
}

std::vector<int> needed_ports_of(EngineConnectionInfo info) {
  return all_needed_ports(info);
}

}  // namespace px
