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

}  // namespace

std::vector<int> ports_of(const ClientConnectionInfo& info) {
  return all_ports(info);
}

std::vector<int> ports_of(const EngineConnectionInfo& info) {
  return all_ports(info);
}

}  // namespace px
