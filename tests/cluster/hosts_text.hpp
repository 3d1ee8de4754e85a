#pragma once

#include <string>
#include <vector>

#include "cluster/launch/host_list.hpp"
#include "wire/text.hpp"

namespace px::cluster {

/// "host2:4,host3:2", as parse_hosts reads it.
inline std::string hosts_text(const std::vector<HostSlots>& hosts) {
  return join(hosts, ",", [](const HostSlots& host) {
    const bool is_ipv6 = host.host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + host.host + "]" : host.host) +
           (host.slots ? ":" + std::to_string(*host.slots) : "");
  });
}

}  // namespace px::cluster
