#pragma once

#include <string>
#include <vector>

#include "cluster/doctor/doctor.hpp"

namespace px::cluster {

/// The ports that were tried at one address, by result.
struct DialedPorts {
  std::string name;
  std::vector<int> open, refused, silent, unreachable;
  /// Whether all of them accepted the connection.
  bool is_open() const { return refused.empty() && silent.empty() && unreachable.empty(); }
};

/// In the order in which the addresses were first tried.
std::vector<DialedPorts> by_address(const std::vector<Dialed>& dialed);

/// "port 4001", "ports 4001, 4002"
std::string port_list(const std::vector<int>& ports);

}  // namespace px::cluster
