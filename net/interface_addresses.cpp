#include "net/interface_addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <array>
#include <memory>
#include <utility>

namespace px::net {

std::vector<InterfaceAddress> interface_addresses() {
  std::vector<InterfaceAddress> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> held{list, &::freeifaddrs};
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP)) continue;
    std::string ip = ip_text(entry->ifa_addr);
    if (!ip.empty()) addresses.push_back({entry->ifa_name, std::move(ip)});
  }
  return addresses;
}

std::vector<std::string> local_addresses() {
  std::vector<std::string> addresses;
  for (InterfaceAddress& each : interface_addresses()) addresses.push_back(std::move(each.ip));
  return addresses;
}

std::string ip_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET)
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  if (address->sa_family == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (!bytes || !::inet_ntop(address->sa_family, bytes, text.data(), text.size())) return "";
  return text.data();
}

}  // namespace px::net
