#include <px/net/address.hpp>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

namespace px {
namespace {

std::string to_text(const sockaddr* address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  const auto* in = reinterpret_cast<const sockaddr_in*>(address);
  return ::inet_ntop(AF_INET, &in->sin_addr, text.data(), text.size()) ? text.data() : "";
}

/// The first IPv4 address of a host name; the text itself where it does not resolve.
std::string resolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0 || !found) return host;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> held{found, &::freeaddrinfo};
  return to_text(found->ai_addr);
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::vector<std::string> local_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> held{list, &::freeifaddrs};
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next)
    if (entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET)
      addresses.push_back(to_text(entry->ifa_addr));
  return addresses;
}

bool is_local_address(std::string_view ip) {
  if (ip.starts_with("127.")) return true;
  const auto addresses = local_addresses();
  return std::find(addresses.begin(), addresses.end(), ip) != addresses.end();
}

std::string dial_interface(std::string_view interface, std::string_view location) {
  const auto colon = interface.find("://");
  if (colon == std::string_view::npos) return std::string(interface);
  const std::string_view transport = interface.substr(0, colon + 3);
  const std::string_view ip = interface.substr(colon + 3);
  if (ip != "*" && ip != "0.0.0.0") return std::string(interface);
  std::string dialed = "127.0.0.1";
  if (!location.empty() && location != host_name()) {
    const std::string address = resolve(std::string(location));
    if (!is_local_address(address)) dialed = address;
  }
  return std::string(transport) + dialed;
}

}  // namespace px
